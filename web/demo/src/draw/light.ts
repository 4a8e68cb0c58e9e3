import type { Grid } from '../arena/movement.js';
import type { Camera } from './camera.js';
import { paintGlow } from './palette.js';

/** A lamp in the world; positions and radius in tiles. */
export interface Lamp {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly color: string;
  readonly alpha: number;
}

const rays = 540;
const reach = 13; // of the player's own light, in tiles
const into = 0.42; // how far light creeps up a wall it hits, in tiles
const coarse = 4; // light is painted on every fourth pixel: that softens its edges
const ambient = 'rgb(120,128,162)';

/**
 * Light darkens what the player does not see and brightens what glows. It is
 * painted small and laid over the picture, so that shadows have soft edges.
 */
export class Light {
  private readonly canvas = document.createElement('canvas');
  private readonly g = this.canvas.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;

  constructor(private readonly grid: Grid) {}

  draw(onto: CanvasRenderingContext2D, camera: Camera, eye: { x: number; y: number } | undefined, lamps: readonly Lamp[]): void {
    const { g, canvas } = this;
    const width = Math.ceil(camera.width / coarse);
    const height = Math.ceil(camera.height / coarse);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.globalCompositeOperation = 'source-over';
    g.fillStyle = ambient;
    g.fillRect(0, 0, width, height);
    g.setTransform(1 / coarse, 0, 0, 1 / coarse, 0, 0);
    g.globalCompositeOperation = 'lighter';
    if (eye !== undefined) this.sight(camera, eye);
    for (const l of lamps) {
      paintGlow(g, l.color, camera.screenX(l.x), camera.screenY(l.y), l.radius * camera.scale, l.alpha);
    }
    this.corners(camera);
    onto.globalCompositeOperation = 'multiply';
    onto.imageSmoothingEnabled = true;
    onto.drawImage(canvas, 0, 0, width * coarse, height * coarse);
    onto.globalCompositeOperation = 'source-over';
  }

  /** Darkens the corners of the picture. */
  private corners({ width, height }: Camera): void {
    const { g } = this;
    const fade = g.createRadialGradient(width / 2, height / 2, height * 0.42, width / 2, height / 2, Math.hypot(width, height) * 0.56);
    fade.addColorStop(0, '#ffffff');
    fade.addColorStop(1, '#7c7f8e');
    g.globalCompositeOperation = 'multiply';
    g.fillStyle = fade;
    g.fillRect(0, 0, width, height);
  }

  /** Lights what can be seen from a point, and throws shadows behind walls. */
  private sight(camera: Camera, eye: { x: number; y: number }): void {
    const { g } = this;
    const x = camera.screenX(eye.x);
    const y = camera.screenY(eye.y);
    const radius = reach * camera.scale;
    const fade = g.createRadialGradient(x, y, 0, x, y, radius);
    fade.addColorStop(0, 'rgba(255,244,226,0.95)');
    fade.addColorStop(0.35, 'rgba(214,214,220,0.62)');
    fade.addColorStop(0.75, 'rgba(120,140,180,0.24)');
    fade.addColorStop(1, 'rgba(120,140,180,0)');
    g.fillStyle = fade;
    g.filter = 'blur(2px)';
    g.beginPath();
    for (let i = 0; i < rays; i++) {
      const angle = (i / rays) * 2 * Math.PI;
      const dx = Math.cos(angle);
      const dy = Math.sin(angle);
      const far = Math.min(reach, this.cast(eye.x, eye.y, dx, dy) + into) * camera.scale;
      g.lineTo(x + dx * far, y + dy * far);
    }
    g.fill();
    g.filter = 'none';
  }

  /** The distance from a point to the first solid tile in a direction, in tiles. */
  private cast(x: number, y: number, dx: number, dy: number): number {
    let tx = Math.floor(x);
    let ty = Math.floor(y);
    const sx = Math.sign(dx);
    const sy = Math.sign(dy);
    const stepX = Math.abs(1 / dx);
    const stepY = Math.abs(1 / dy);
    let nextX = (sx > 0 ? tx + 1 - x : x - tx) * stepX;
    let nextY = (sy > 0 ? ty + 1 - y : y - ty) * stepY;
    for (let far = 0; far < reach; ) {
      if (nextX < nextY) {
        far = nextX;
        nextX += stepX;
        tx += sx;
      } else {
        far = nextY;
        nextY += stepY;
        ty += sy;
      }
      if (this.grid.solid(tx, ty)) return far;
    }
    return reach;
  }
}
