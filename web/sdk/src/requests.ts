import { GatehouseError } from './codes.js';
import type { Response } from './bodies.js';
import { payloadData } from './payload.js';

interface Open {
  resolve(payload: Uint8Array): void;
  reject(e: GatehouseError): void;
  timer: ReturnType<typeof setTimeout>;
}

/** Requests that wait for their response. Ids count from 1 for the life of the session. */
export class Requests {
  private readonly open = new Map<number, Open>();
  private last = 0;

  /** Takes the next id and a promise of its response's payload. */
  begin(timeoutMs: number): { id: number; response: Promise<Uint8Array> } {
    const id = ++this.last;
    const response = new Promise<Uint8Array>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.open.delete(id);
        reject(new GatehouseError(4002, `no response within ${timeoutMs / 1000} s`));
      }, timeoutMs);
      this.open.set(id, { resolve, reject, timer });
    });
    return { id, response };
  }

  /** Takes a response; one that nobody waits for is ignored. */
  end(r: Response): void {
    const open = this.take(r.id);
    if (open === undefined) return;
    if (r.code === 0) open.resolve(r.payload);
    else open.reject(new GatehouseError(r.code, undefined, payloadData(r.payload)));
  }

  /** Fails every open request. */
  failAll(e: GatehouseError): void {
    for (const id of [...this.open.keys()]) this.fail(id, e);
  }

  fail(id: number, e: GatehouseError): void {
    this.take(id)?.reject(e);
  }

  private take(id: number): Open | undefined {
    const open = this.open.get(id);
    if (open === undefined) return undefined;
    this.open.delete(id);
    clearTimeout(open.timer);
    return open;
  }
}
