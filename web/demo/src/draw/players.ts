import { Flag } from '../arena/contract.js';
import { outline, shadow, whiten, type Spot } from './brush.js';
import { colorOf, playerColors, shade } from './palette.js';

const playerRadius = 0.36; // tiles: a little more than its body, so that it looks solid

/** What of a player decides its looks. */
export interface PlayerLook {
  readonly color: number;
  readonly skin: number;
  readonly flags: number;
  readonly power: number;
  readonly aim: number; // radians
  readonly white: number; // 0 to 1
  readonly own: boolean;
  readonly time: number; // seconds
}

export function drawPlayer(g: CanvasRenderingContext2D, at: Spot, look: PlayerLook): void {
  const r = playerRadius * at.unit;
  const color = colorOf(playerColors, look.color);
  shadow(g, at, r);
  g.save();
  g.globalAlpha = look.flags & Flag.away ? 0.45 : 1;
  g.translate(at.x, at.y);
  if (look.own) ownMark(g, r, color, look.time);
  g.rotate(look.aim);
  treads(g, r, look.flags & Flag.moving ? look.time * 9 : 0);
  gun(g, r, color, (look.flags & Flag.attacking) !== 0);
  ball(g, r, color);
  pattern(g, r, look.skin);
  visor(g, r);
  whiten(g, r, look.white);
  g.restore();
  if (look.flags & Flag.shielded) bubble(g, at, r * 1.55, look.time);
}

/** A ring that nobody else has: one look tells who one is. */
function ownMark(g: CanvasRenderingContext2D, r: number, color: string, time: number): void {
  g.strokeStyle = color;
  g.lineWidth = Math.max(2, r * 0.1);
  g.beginPath();
  g.arc(0, 0, r * 1.45, 0, 2 * Math.PI);
  g.stroke();
  g.fillStyle = '#ffffff';
  for (let i = 0; i < 3; i++) {
    const angle = time * 1.2 + (i * 2 * Math.PI) / 3;
    g.beginPath();
    g.arc(Math.cos(angle) * r * 1.45, Math.sin(angle) * r * 1.45, r * 0.11, 0, 2 * Math.PI);
    g.fill();
  }
}

function treads(g: CanvasRenderingContext2D, r: number, phase: number): void {
  for (const side of [-1, 1]) {
    g.fillStyle = '#10141d';
    g.beginPath();
    g.roundRect(-r * 0.78, side * r * 0.86 - r * 0.26, r * 1.5, r * 0.52, r * 0.2);
    g.fill();
    g.fillStyle = 'rgba(150,170,210,0.28)';
    for (let i = 0; i < 4; i++) {
      const x = (((i * 0.38 - phase * 0.16) % 1.52) + 1.52) % 1.52;
      g.fillRect(-r * 0.78 + x * r * 0.98, side * r * 0.86 - r * 0.24, r * 0.09, r * 0.48);
    }
  }
}

function gun(g: CanvasRenderingContext2D, r: number, color: string, firing: boolean): void {
  const back = firing ? r * 0.14 : 0;
  g.fillStyle = outline;
  g.beginPath();
  g.roundRect(r * 0.3 - back, -r * 0.26, r * 1.28, r * 0.52, r * 0.14);
  g.fill();
  g.fillStyle = '#8794ad';
  g.beginPath();
  g.roundRect(r * 0.4 - back, -r * 0.17, r * 1.1, r * 0.34, r * 0.08);
  g.fill();
  g.fillStyle = shade(color, 0.25);
  g.fillRect(r * 1.28 - back, -r * 0.17, r * 0.14, r * 0.34);
}

function ball(g: CanvasRenderingContext2D, r: number, color: string): void {
  g.fillStyle = outline;
  g.beginPath();
  g.arc(0, 0, r * 1.02, 0, 2 * Math.PI);
  g.fill();
  const fill = g.createRadialGradient(-r * 0.3, -r * 0.35, r * 0.1, 0, 0, r);
  fill.addColorStop(0, shade(color, 0.45));
  fill.addColorStop(0.5, color);
  fill.addColorStop(1, shade(color, -0.45));
  g.fillStyle = fill;
  g.beginPath();
  g.arc(0, 0, r * 0.9, 0, 2 * Math.PI);
  g.fill();
}

function pattern(g: CanvasRenderingContext2D, r: number, skin: number): void {
  g.strokeStyle = 'rgba(8,12,22,0.55)';
  g.lineWidth = r * 0.16;
  g.beginPath();
  if (skin === 0) g.arc(0, 0, r * 0.55, 0, 2 * Math.PI);
  else if (skin === 1) {
    g.moveTo(-r * 0.75, -r * 0.3);
    g.lineTo(r * 0.1, -r * 0.3);
    g.moveTo(-r * 0.75, r * 0.3);
    g.lineTo(r * 0.1, r * 0.3);
  } else if (skin === 2) {
    g.moveTo(-r * 0.1, -r * 0.7);
    g.lineTo(-r * 0.45, 0);
    g.lineTo(-r * 0.1, r * 0.7);
  } else {
    g.moveTo(-r * 0.7, 0);
    g.lineTo(r * 0.05, 0);
    g.moveTo(-r * 0.33, -r * 0.4);
    g.lineTo(-r * 0.33, r * 0.4);
  }
  g.stroke();
}

function visor(g: CanvasRenderingContext2D, r: number): void {
  g.fillStyle = '#0a0e17';
  g.beginPath();
  g.ellipse(r * 0.34, 0, r * 0.3, r * 0.46, 0, 0, 2 * Math.PI);
  g.fill();
  g.fillStyle = 'rgba(170,235,255,0.9)';
  g.beginPath();
  g.ellipse(r * 0.4, -r * 0.16, r * 0.1, r * 0.18, 0.2, 0, 2 * Math.PI);
  g.fill();
}

function bubble(g: CanvasRenderingContext2D, { x, y }: Spot, r: number, time: number): void {
  const beat = 1 + Math.sin(time * 5) * 0.03;
  const fill = g.createRadialGradient(x, y, r * 0.55, x, y, r * beat);
  fill.addColorStop(0, 'rgba(122,240,255,0)');
  fill.addColorStop(0.85, 'rgba(122,240,255,0.16)');
  fill.addColorStop(1, 'rgba(122,240,255,0.5)');
  g.fillStyle = fill;
  g.beginPath();
  g.arc(x, y, r * beat, 0, 2 * Math.PI);
  g.fill();
}
