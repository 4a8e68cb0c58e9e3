const messageBytes = 16 << 10;

/** One message of several parts. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

/** Frames packed into messages of about 16 KiB; a larger frame goes alone. */
export function* packed(all: readonly Uint8Array[]): Generator<Uint8Array> {
  let batch: Uint8Array[] = [];
  let bytes = 0;
  for (const f of all) {
    if (batch.length > 0 && bytes + f.length > messageBytes) {
      yield concat(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(f);
    bytes += f.length;
  }
  if (batch.length > 0) yield concat(batch);
}
