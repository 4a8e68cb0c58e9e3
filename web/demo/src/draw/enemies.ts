import { EnemyKind, EnemyState, breeds } from '../arena/contract.js';
import { outline, shadow, whiten, type Spot } from './brush.js';
import { enemyColors, projectileColors, shade } from './palette.js';

/** What of an enemy decides its looks. */
export interface EnemyLook {
  readonly kind: number;
  readonly state: number;
  readonly aim: number; // radians
  readonly white: number;
  readonly time: number;
}

export function drawEnemy(g: CanvasRenderingContext2D, at: Spot, look: EnemyLook): void {
  const r = (breeds[look.kind]?.radius ?? 0.3) * at.unit * 1.12;
  shadow(g, at, r);
  g.save();
  g.translate(at.x, at.y);
  g.rotate(look.aim);
  if (look.state === EnemyState.windup) {
    const beat = 0.5 + 0.5 * Math.sin(look.time * 26);
    g.strokeStyle = `rgba(255,84,60,${0.5 + beat * 0.5})`;
    g.lineWidth = r * 0.16;
    g.beginPath();
    g.arc(0, 0, r * (1.35 + beat * 0.12), 0, 2 * Math.PI);
    g.stroke();
    g.translate(-r * 0.1 * beat, 0);
  }
  if (look.kind === EnemyKind.grub) grub(g, r, look.time);
  else if (look.kind === EnemyKind.spitter) spitter(g, r, look.time);
  else brute(g, r, look.time);
  whiten(g, r, look.white);
  g.restore();
  if (look.state === EnemyState.stun) stars(g, at, r, look.time);
}

function grub(g: CanvasRenderingContext2D, r: number, time: number): void {
  const color = enemyColors[0];
  for (let i = 2; i >= 0; i--) {
    const x = r * (0.42 - i * 0.62);
    const y = Math.sin(time * 9 - i * 1.1) * r * 0.12;
    const size = r * (0.74 - i * 0.1);
    legs(g, x, y, size, time * 14 + i);
    segment(g, x, y, size, color);
  }
  eyes(g, r * 0.72, r * 0.28, r * 0.16, '#ff3d3d');
  g.strokeStyle = '#f4f1d0';
  g.lineWidth = r * 0.11;
  g.lineCap = 'round';
  for (const side of [-1, 1]) {
    g.beginPath();
    g.moveTo(r * 1.02, side * r * 0.26);
    g.quadraticCurveTo(r * 1.4, side * r * 0.3, r * 1.36, side * r * 0.06);
    g.stroke();
  }
}

function legs(g: CanvasRenderingContext2D, x: number, y: number, r: number, phase: number): void {
  g.strokeStyle = '#26371a';
  g.lineWidth = r * 0.18;
  g.lineCap = 'round';
  for (const side of [-1, 1]) {
    g.beginPath();
    g.moveTo(x, y);
    g.lineTo(x + Math.sin(phase * side) * r * 0.3, y + side * r * 1.35);
    g.stroke();
  }
}

function segment(g: CanvasRenderingContext2D, x: number, y: number, r: number, color: string): void {
  const fill = g.createRadialGradient(x - r * 0.2, y - r * 0.3, r * 0.1, x, y, r);
  fill.addColorStop(0, shade(color, 0.35));
  fill.addColorStop(0.6, color);
  fill.addColorStop(1, shade(color, -0.55));
  g.fillStyle = outline;
  g.beginPath();
  g.arc(x, y, r * 1.1, 0, 2 * Math.PI);
  g.fill();
  g.fillStyle = fill;
  g.beginPath();
  g.arc(x, y, r, 0, 2 * Math.PI);
  g.fill();
}

function eyes(g: CanvasRenderingContext2D, x: number, apart: number, r: number, color: string): void {
  for (const side of [-1, 1]) {
    g.fillStyle = color;
    g.beginPath();
    g.arc(x, side * apart, r, 0, 2 * Math.PI);
    g.fill();
    g.fillStyle = '#fff6e8';
    g.beginPath();
    g.arc(x + r * 0.25, side * apart - r * 0.25, r * 0.35, 0, 2 * Math.PI);
    g.fill();
  }
}

function spitter(g: CanvasRenderingContext2D, r: number, time: number): void {
  const color = enemyColors[1];
  g.fillStyle = shade(color, -0.6);
  for (let i = 0; i < 6; i++) {
    const angle = Math.PI * (0.45 + i * 0.22);
    const sway = Math.sin(time * 5 + i) * 0.12;
    g.beginPath();
    g.ellipse(Math.cos(angle + sway) * r * 1.05, Math.sin(angle + sway) * r * 1.05, r * 0.42, r * 0.18, angle + sway, 0, 2 * Math.PI);
    g.fill();
  }
  segment(g, 0, 0, r * 0.98, color);
  g.fillStyle = '#170a26';
  g.beginPath();
  g.ellipse(r * 0.72, 0, r * 0.3, r * (0.34 + Math.sin(time * 4) * 0.05), 0, 0, 2 * Math.PI);
  g.fill();
  g.fillStyle = projectileColors[1];
  g.beginPath();
  g.arc(r * 0.76, 0, r * 0.15, 0, 2 * Math.PI);
  g.fill();
  eyes(g, r * 0.2, r * 0.5, r * 0.17, '#ffe45e');
}

function brute(g: CanvasRenderingContext2D, r: number, time: number): void {
  const color = enemyColors[2];
  const swing = Math.sin(time * 6) * r * 0.1;
  for (const side of [-1, 1]) segment(g, r * 0.35 + swing * side, side * r * 0.85, r * 0.42, shade(color, -0.38));
  segment(g, 0, 0, r, color);
  g.fillStyle = 'rgba(40,6,4,0.5)';
  for (const x of [-0.55, -0.2, 0.15]) {
    g.beginPath();
    g.roundRect(r * x, -r * 0.52, r * 0.16, r * 1.04, r * 0.08);
    g.fill();
  }
  g.fillStyle = '#f1e6d2';
  for (const side of [-1, 1]) {
    g.beginPath();
    g.moveTo(r * 0.5, side * r * 0.72);
    g.quadraticCurveTo(r * 1.1, side * r * 0.85, r * 1.32, side * r * 0.4);
    g.quadraticCurveTo(r * 1.0, side * r * 0.6, r * 0.62, side * r * 0.44);
    g.fill();
  }
  eyes(g, r * 0.66, r * 0.26, r * 0.13, '#ffd23f');
}

function stars(g: CanvasRenderingContext2D, { x, y }: Spot, r: number, time: number): void {
  g.fillStyle = '#ffe45e';
  for (let i = 0; i < 3; i++) {
    const angle = time * 6 + (i * 2 * Math.PI) / 3;
    g.beginPath();
    g.arc(x + Math.cos(angle) * r * 0.9, y - r * 0.9 + Math.sin(angle) * r * 0.3, r * 0.13, 0, 2 * Math.PI);
    g.fill();
  }
}
