// What all bodies are painted with.

/** A point and a size on the screen, in CSS pixels; unit is a tile. */
export interface Spot {
  readonly x: number;
  readonly y: number;
  readonly unit: number;
}

/** The dark edge that sets a body off from whatever is behind it. */
export const outline = 'rgba(6,9,16,0.95)';

/** The shadow under a body. */
export function shadow(g: CanvasRenderingContext2D, { x, y }: Spot, r: number): void {
  g.fillStyle = 'rgba(0,0,0,0.42)';
  g.beginPath();
  g.ellipse(x + r * 0.22, y + r * 0.42, r * 1.08, r * 0.92, 0, 0, 2 * Math.PI);
  g.fill();
}

/** Whitens a body that was just hit; the surface is turned and moved to it. */
export function whiten(g: CanvasRenderingContext2D, r: number, white: number): void {
  if (white <= 0) return;
  g.globalAlpha = white * 0.85;
  g.fillStyle = '#ffffff';
  g.beginPath();
  g.arc(0, 0, r, 0, 2 * Math.PI);
  g.fill();
}

/** A bar of health over a head, and a name. */
export function drawTag(g: CanvasRenderingContext2D, at: Spot, above: number, part: number, color: string, name?: string): void {
  const width = at.unit * 0.9;
  const height = Math.max(3, at.unit * 0.085);
  const x = at.x - width / 2;
  const y = at.y - above * at.unit;
  g.fillStyle = 'rgba(5,8,14,0.8)';
  g.beginPath();
  g.roundRect(x - 1.5, y - 1.5, width + 3, height + 3, height);
  g.fill();
  if (part > 0) {
    g.fillStyle = color;
    g.beginPath();
    g.roundRect(x, y, Math.max(height, width * Math.min(1, part)), height, height / 2);
    g.fill();
  }
  if (name === undefined) return;
  g.font = `600 ${Math.max(11, Math.round(at.unit * 0.25))}px system-ui, sans-serif`;
  g.textAlign = 'center';
  g.lineWidth = 3.5;
  g.strokeStyle = 'rgba(4,6,12,0.8)';
  g.strokeText(name, at.x, y - 6);
  g.fillStyle = '#eef3ff';
  g.fillText(name, at.x, y - 6);
}
