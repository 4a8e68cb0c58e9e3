import type { Grid } from '../arena/movement.js';
import type { Camera } from './camera.js';

const px = 64; // of a tile on the picture
const frontHeight = 0.4; // of a wall's visible front, in tiles

/** The colour of solid matter that nobody comes near: the inside of thick walls, and what lies outside the map. */
export const solidColor = '#151b29';

/**
 * Ground is the part of the map that never moves: floors, walls and their
 * shadows. It is painted once, onto one large picture.
 */
export class Ground {
  private readonly picture: HTMLCanvasElement;

  constructor(private readonly grid: Grid) {
    this.picture = document.createElement('canvas');
    this.picture.width = grid.width * px;
    this.picture.height = grid.height * px;
    const g = this.picture.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;
    for (let y = 0; y < grid.height; y++) {
      for (let x = 0; x < grid.width; x++) if (!this.wall(x, y)) this.floor(g, x, y);
    }
    for (let y = 0; y < grid.height; y++) {
      for (let x = 0; x < grid.width; x++) if (this.wall(x, y)) this.block(g, x, y);
    }
  }

  /** Paints what the camera sees. */
  draw(g: CanvasRenderingContext2D, camera: Camera): void {
    const size = camera.scale;
    g.drawImage(this.picture, camera.screenX(0), camera.screenY(0), this.grid.width * size, this.grid.height * size);
  }

  private wall(x: number, y: number): boolean {
    return !this.grid.door(x, y) && this.grid.solid(x, y);
  }

  private floor(g: CanvasRenderingContext2D, x: number, y: number): void {
    const left = x * px;
    const top = y * px;
    const n = noise(x, y);
    const light = 18.5 + (((x >> 1) + (y >> 1)) % 2) * 1.8 + n * 2.2;
    g.fillStyle = `hsl(222 21% ${light}%)`;
    g.fillRect(left, top, px, px);
    g.strokeStyle = 'rgba(255,255,255,0.025)';
    g.strokeRect(left + 1.5, top + 1.5, px - 3, px - 3);
    g.fillStyle = 'rgba(0,0,0,0.28)';
    g.fillRect(left, top, px, 1);
    g.fillRect(left, top, 1, px);
    if (this.grid.door(x, y)) this.threshold(g, left, top);
    else this.detail(g, left, top, n);
    this.contactShadow(g, x, y);
  }

  /** Small things that keep large floors from looking printed. */
  private detail(g: CanvasRenderingContext2D, left: number, top: number, n: number): void {
    if (n > 0.955) {
      g.fillStyle = 'rgba(0,0,0,0.35)';
      roundRect(g, left + 14, top + 16, px - 28, px - 32, 5);
      g.fill();
      g.fillStyle = 'rgba(130,160,210,0.10)';
      for (let i = 0; i < 4; i++) g.fillRect(left + 19, top + 21 + i * 7, px - 38, 2);
    } else if (n > 0.9) {
      g.strokeStyle = 'rgba(0,0,0,0.3)';
      g.lineWidth = 1.5;
      g.beginPath();
      g.moveTo(left + n * 40, top + 8);
      g.lineTo(left + 26, top + 24);
      g.lineTo(left + 22, top + 44);
      g.moveTo(left + 26, top + 24);
      g.lineTo(left + 44, top + 32);
      g.stroke();
    } else if (n < 0.16) {
      g.fillStyle = 'rgba(150,175,220,0.13)';
      for (const [dx, dy] of [[6, 6], [px - 9, 6], [6, px - 9], [px - 9, px - 9]] as const) g.fillRect(left + dx, top + dy, 3, 3);
    }
  }

  private threshold(g: CanvasRenderingContext2D, left: number, top: number): void {
    g.save();
    g.beginPath();
    g.rect(left, top, px, px);
    g.clip();
    g.fillStyle = 'rgba(255,190,70,0.09)';
    for (let i = -px; i < px; i += 16) {
      g.beginPath();
      g.moveTo(left + i, top + px);
      g.lineTo(left + i + px, top);
      g.lineTo(left + i + px + 8, top);
      g.lineTo(left + i + 8, top + px);
      g.fill();
    }
    g.restore();
  }

  /** The darkness that gathers where floor meets wall. The light comes from the upper left. */
  private contactShadow(g: CanvasRenderingContext2D, x: number, y: number): void {
    const left = x * px;
    const top = y * px;
    const strip = (x0: number, y0: number, x1: number, y1: number, alpha: number): void => {
      const fade = g.createLinearGradient(x0, y0, x1, y1);
      fade.addColorStop(0, `rgba(2,4,10,${alpha})`);
      fade.addColorStop(1, 'rgba(2,4,10,0)');
      g.fillStyle = fade;
      g.fillRect(left, top, px, px);
    };
    if (this.wall(x, y - 1)) strip(0, top, 0, top + px * 0.8, 0.62);
    if (this.wall(x - 1, y)) strip(left, 0, left + px * 0.55, 0, 0.5);
    if (this.wall(x + 1, y)) strip(left + px, 0, left + px * 0.75, 0, 0.3);
    if (this.wall(x, y + 1)) strip(0, top + px, 0, top + px * 0.82, 0.25);
    if (this.wall(x - 1, y - 1) && !this.wall(x, y - 1) && !this.wall(x - 1, y)) {
      const fade = g.createRadialGradient(left, top, 0, left, top, px * 0.6);
      fade.addColorStop(0, 'rgba(2,4,10,0.5)');
      fade.addColorStop(1, 'rgba(2,4,10,0)');
      g.fillStyle = fade;
      g.fillRect(left, top, px, px);
    }
  }

  private block(g: CanvasRenderingContext2D, x: number, y: number): void {
    const left = x * px;
    const top = y * px;
    const n = noise(x + 91, y + 17);
    const open = { n: !this.wall(x, y - 1), s: !this.wall(x, y + 1), w: !this.wall(x - 1, y), e: !this.wall(x + 1, y) };
    g.fillStyle = this.inner(x, y) ? solidColor : `hsl(215 25% ${33 + n * 2}%)`;
    g.fillRect(left, top, px, px);
    const front = open.s ? px * frontHeight : 0;
    if (open.s) this.front(g, left, top + px - front, front, n);
    this.recede(g, x, y);
    // Bevels: a lit rim to the upper left, a dark one to the lower right.
    g.fillStyle = 'rgba(190,214,255,0.4)';
    if (open.n) g.fillRect(left, top, px, 2.5);
    if (open.w) g.fillRect(left, top, 2.5, px - front);
    if (open.s) {
      g.fillStyle = 'rgba(190,214,255,0.5)';
      g.fillRect(left, top + px - front - 2.5, px, 2.5);
    }
    g.fillStyle = 'rgba(0,0,0,0.35)';
    if (open.e) g.fillRect(left + px - 2.5, top, 2.5, px - front);
  }

  /** Walls fade into the dark of what is behind them, where that is solid too. */
  private recede(g: CanvasRenderingContext2D, x: number, y: number): void {
    const left = x * px;
    const top = y * px;
    for (const [dx, dy] of [[0, -1], [0, 1], [-1, 0], [1, 0]] as const) {
      const outside = x + dx < 0 || y + dy < 0 || x + dx >= this.grid.width || y + dy >= this.grid.height;
      if (!outside && !(this.wall(x + dx, y + dy) && this.inner(x + dx, y + dy))) continue;
      const [cx, cy] = [left + px / 2, top + px / 2];
      const fade = g.createLinearGradient(cx - (dx * px) / 2, cy - (dy * px) / 2, cx + (dx * px) / 2, cy + (dy * px) / 2);
      fade.addColorStop(0.1, `${solidColor}00`);
      fade.addColorStop(1, solidColor);
      g.fillStyle = fade;
      g.fillRect(left, top, px, px);
    }
  }

  private front(g: CanvasRenderingContext2D, left: number, top: number, height: number, n: number): void {
    const fade = g.createLinearGradient(0, top, 0, top + height);
    fade.addColorStop(0, 'hsl(219 27% 19%)');
    fade.addColorStop(1, 'hsl(223 34% 8.5%)');
    g.fillStyle = fade;
    g.fillRect(left, top, px, height);
    g.fillStyle = 'rgba(0,0,0,0.4)';
    g.fillRect(left, top, 1.5, height);
    if (n > 0.82) {
      g.fillStyle = 'rgba(90,210,255,0.75)';
      g.fillRect(left + px / 2 - 9, top + height * 0.42, 18, 3);
      const shine = g.createRadialGradient(left + px / 2, top + height / 2, 0, left + px / 2, top + height / 2, 34);
      shine.addColorStop(0, 'rgba(90,210,255,0.24)');
      shine.addColorStop(1, 'rgba(90,210,255,0)');
      g.fillStyle = shine;
      g.fillRect(left, top - 8, px, height + 34);
    }
  }

  /** Whether a wall is surrounded by walls: nobody ever sees its sides. */
  private inner(x: number, y: number): boolean {
    for (let dy = -1; dy <= 1; dy++) for (let dx = -1; dx <= 1; dx++) if (!this.wall(x + dx, y + dy)) return false;
    return true;
  }
}

/** A number from 0 to 1 that belongs to a tile. */
export function noise(x: number, y: number): number {
  let h = Math.imul(x + 1, 374761393) ^ Math.imul(y + 1, 668265263);
  h = Math.imul(h ^ (h >>> 13), 1274126177);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}

export function roundRect(g: CanvasRenderingContext2D, x: number, y: number, w: number, h: number, r: number): void {
  g.beginPath();
  g.roundRect(x, y, w, h, r);
}
