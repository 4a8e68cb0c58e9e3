import type { Camera } from './camera.js';
import { paintGlow } from './palette.js';

interface Particle {
  x: number;
  y: number;
  vx: number; // tiles per second
  vy: number;
  left: number; // seconds
  readonly life: number;
  readonly size: number; // tiles
  readonly color: string;
  readonly drag: number;
}

interface Label {
  readonly text: string;
  readonly color: string;
  readonly size: number;
  x: number;
  y: number;
  left: number;
}

interface Wave {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly color: string;
  left: number;
  readonly life: number;
}

const mostParticles = 700;

/** Short-lived things that follow from what happens; none of them matters to the game. */
export class Effects {
  private readonly particles: Particle[] = [];
  private readonly labels: Label[] = [];
  private readonly waves: Wave[] = [];
  private readonly flashes = new Map<number, number>(); // entity id to seconds left

  /** Throws particles in all directions, or around one (radians). */
  burst(x: number, y: number, color: string, count: number, speed: number, options: { toward?: number; spread?: number; size?: number; life?: number } = {}): void {
    const { toward = 0, spread = 2 * Math.PI, size = 0.07, life = 0.45 } = options;
    for (let i = 0; i < count && this.particles.length < mostParticles; i++) {
      const angle = toward + (Math.random() - 0.5) * spread;
      const v = speed * (0.3 + Math.random() * 0.7);
      const span = life * (0.5 + Math.random() * 0.7);
      this.particles.push({
        x, y, color, vx: Math.cos(angle) * v, vy: Math.sin(angle) * v,
        left: span, life: span, size: size * (0.6 + Math.random() * 0.8), drag: 3.2,
      });
    }
  }

  /** A number or word that rises and fades. */
  label(x: number, y: number, text: string, color: string, size = 1): void {
    if (this.labels.length > 60) this.labels.shift();
    this.labels.push({ x: x + (Math.random() - 0.5) * 0.35, y, text, color, size, left: 0.9 });
  }

  /** A ring that widens. */
  wave(x: number, y: number, color: string, radius: number, life = 0.35): void {
    if (this.waves.length > 40) this.waves.shift();
    this.waves.push({ x, y, color, radius, left: life, life });
  }

  /** Makes an entity flash white. */
  flash(id: number): void {
    this.flashes.set(id, 0.14);
  }

  /** How white an entity is, 0 to 1. */
  whiteness(id: number): number {
    return Math.min(1, (this.flashes.get(id) ?? 0) / 0.1);
  }

  advance(seconds: number): void {
    for (const p of this.particles) {
      p.left -= seconds;
      p.x += p.vx * seconds;
      p.y += p.vy * seconds;
      const keep = Math.exp(-p.drag * seconds);
      p.vx *= keep;
      p.vy *= keep;
    }
    for (const l of this.labels) {
      l.left -= seconds;
      l.y -= seconds * (0.4 + l.left);
    }
    for (const w of this.waves) w.left -= seconds;
    for (const [id, left] of this.flashes) {
      if (left <= seconds) this.flashes.delete(id);
      else this.flashes.set(id, left - seconds);
    }
    for (const list of [this.particles, this.labels, this.waves] as { left: number }[][]) sweep(list);
  }

  /** What glows: on top of the lit picture. */
  drawGlowing(g: CanvasRenderingContext2D, camera: Camera): void {
    g.globalCompositeOperation = 'lighter';
    for (const p of this.particles) {
      if (!camera.sees(p.x, p.y, 1)) continue;
      const part = p.left / p.life;
      paintGlow(g, p.color, camera.screenX(p.x), camera.screenY(p.y), p.size * camera.scale * (0.6 + part), part);
    }
    for (const w of this.waves) {
      const part = w.left / w.life;
      g.globalAlpha = part * 0.8;
      g.strokeStyle = w.color;
      g.lineWidth = Math.max(1, part * 0.12 * camera.scale);
      g.beginPath();
      g.arc(camera.screenX(w.x), camera.screenY(w.y), w.radius * (1 - part * part) * camera.scale, 0, 2 * Math.PI);
      g.stroke();
    }
    g.globalAlpha = 1;
    g.globalCompositeOperation = 'source-over';
  }

  drawLabels(g: CanvasRenderingContext2D, camera: Camera): void {
    g.textAlign = 'center';
    for (const l of this.labels) {
      const grow = l.left > 0.75 ? 1 + (l.left - 0.75) * 3 : 1;
      g.globalAlpha = Math.min(1, l.left * 2.2);
      g.font = `800 ${Math.round(camera.scale * 0.36 * l.size * grow)}px system-ui, sans-serif`;
      g.lineWidth = 4;
      g.strokeStyle = 'rgba(4,6,12,0.85)';
      g.strokeText(l.text, camera.screenX(l.x), camera.screenY(l.y));
      g.fillStyle = l.color;
      g.fillText(l.text, camera.screenX(l.x), camera.screenY(l.y));
    }
    g.globalAlpha = 1;
  }
}

/** Removes what is over, without keeping the order. */
function sweep(list: { left: number }[]): void {
  for (let i = list.length - 1; i >= 0; i--) {
    if ((list[i] as { left: number }).left > 0) continue;
    list[i] = list[list.length - 1] as { left: number };
    list.pop();
  }
}
