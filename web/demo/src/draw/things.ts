import { ItemKind } from '../arena/contract.js';
import { outline, type Spot } from './brush.js';
import { colorOf, itemColors, paintGlow, projectileColors } from './palette.js';

/** A projectile, with the streak of where it was a moment ago. Paint it over the lit picture. */
export function drawProjectile(g: CanvasRenderingContext2D, at: Spot, kind: number, aim: number, age: number): void {
  const color = colorOf(projectileColors, kind);
  const tail = Math.min(1, age / 0.15) * (kind === 0 ? 1.25 : 0.6) * at.unit;
  const dx = Math.cos(aim);
  const dy = Math.sin(aim);
  g.globalCompositeOperation = 'lighter';
  const fade = g.createLinearGradient(at.x, at.y, at.x - dx * tail, at.y - dy * tail);
  fade.addColorStop(0, `${color}dd`);
  fade.addColorStop(0.4, `${color}55`);
  fade.addColorStop(1, `${color}00`);
  g.strokeStyle = fade;
  g.lineCap = 'round';
  g.lineWidth = at.unit * (kind === 0 ? 0.13 : 0.24);
  g.beginPath();
  g.moveTo(at.x, at.y);
  g.lineTo(at.x - dx * tail, at.y - dy * tail);
  g.stroke();
  paintGlow(g, color, at.x, at.y, at.unit * 0.55, 0.8);
  g.fillStyle = '#ffffff';
  g.beginPath();
  g.ellipse(at.x, at.y, at.unit * (kind === 0 ? 0.17 : 0.12), at.unit * (kind === 0 ? 0.06 : 0.12), aim, 0, 2 * Math.PI);
  g.fill();
  g.globalCompositeOperation = 'source-over';
}

/** A pick-up that floats. */
export function drawItem(g: CanvasRenderingContext2D, at: Spot, kind: number, time: number): void {
  g.fillStyle = 'rgba(0,0,0,0.4)';
  g.beginPath();
  g.ellipse(at.x, at.y + at.unit * 0.16, at.unit * 0.16, at.unit * 0.07, 0, 0, 2 * Math.PI);
  g.fill();
  g.save();
  g.translate(at.x, floating(at, time));
  g.scale(at.unit * 0.2, at.unit * 0.2);
  symbol(g, kind, colorOf(itemColors, kind), time);
  g.restore();
}

/** The light of a pick-up. Paint it over the lit picture. */
export function drawItemGlow(g: CanvasRenderingContext2D, at: Spot, kind: number, time: number): void {
  g.globalCompositeOperation = 'lighter';
  paintGlow(g, colorOf(itemColors, kind), at.x, floating(at, time), at.unit * 0.62, 0.5 + 0.15 * Math.sin(time * 3.3));
  g.globalCompositeOperation = 'source-over';
}

function floating(at: Spot, time: number): number {
  return at.y - at.unit * (0.1 + 0.06 * Math.sin(time * 2.6));
}

function symbol(g: CanvasRenderingContext2D, kind: number, color: string, time: number): void {
  g.lineJoin = 'round';
  g.fillStyle = color;
  g.strokeStyle = outline;
  g.lineWidth = 0.28;
  if (kind === ItemKind.gem) {
    const narrow = 0.45 + 0.4 * Math.abs(Math.cos(time * 1.8));
    polygon(g, [[0, -1.1], [narrow, -0.2], [0, 1.15], [-narrow, -0.2]]);
    g.fillStyle = 'rgba(255,255,255,0.65)';
    polygon(g, [[0, -1.1], [narrow, -0.2], [0, 0.05], [-narrow * 0.2, -0.3]], false);
    return;
  }
  if (kind === ItemKind.health) {
    polygon(g, [[-0.35, -1], [0.35, -1], [0.35, -0.35], [1, -0.35], [1, 0.35], [0.35, 0.35], [0.35, 1], [-0.35, 1], [-0.35, 0.35], [-1, 0.35], [-1, -0.35], [-0.35, -0.35]]);
  } else if (kind === ItemKind.haste) {
    polygon(g, [[0.35, -1.15], [-0.75, 0.2], [-0.05, 0.2], [-0.35, 1.15], [0.75, -0.25], [0.05, -0.25]]);
  } else if (kind === ItemKind.spread) {
    for (const [x, y] of [[0, -0.7], [-0.75, 0.5], [0.75, 0.5]] as const) {
      g.beginPath();
      g.arc(x, y, 0.48, 0, 2 * Math.PI);
      g.stroke();
      g.fill();
    }
  } else {
    polygon(g, [[0, -1.1], [0.95, -0.65], [0.8, 0.4], [0, 1.15], [-0.8, 0.4], [-0.95, -0.65]]);
    g.fillStyle = 'rgba(255,255,255,0.5)';
    polygon(g, [[0, -0.75], [0, 0.7], [-0.5, 0.25], [-0.6, -0.45]], false);
  }
}

function polygon(g: CanvasRenderingContext2D, points: readonly (readonly [number, number])[], stroked = true): void {
  g.beginPath();
  for (const [x, y] of points) g.lineTo(x, y);
  g.closePath();
  if (stroked) g.stroke();
  g.fill();
}

/** A door that slides: open is 0 to 1. `across` says that its wall runs left and right. */
export function drawDoor(g: CanvasRenderingContext2D, left: number, top: number, unit: number, open: number, across: boolean): void {
  const leaf = (unit / 2) * (1 - open * 0.84);
  g.save();
  g.translate(left + unit / 2, top + unit / 2);
  if (!across) g.rotate(Math.PI / 2);
  for (const side of [-1, 1]) {
    const x = side < 0 ? -unit / 2 : unit / 2 - leaf;
    g.fillStyle = 'rgba(0,0,0,0.4)';
    g.fillRect(x, -unit * 0.2 + unit * 0.1, leaf, unit * 0.46);
    const fill = g.createLinearGradient(0, -unit * 0.22, 0, unit * 0.22);
    fill.addColorStop(0, '#5b6b86');
    fill.addColorStop(0.5, '#3a475e');
    fill.addColorStop(1, '#222b3c');
    g.fillStyle = fill;
    g.fillRect(x, -unit * 0.22, leaf, unit * 0.44);
    g.strokeStyle = 'rgba(5,8,14,0.9)';
    g.lineWidth = Math.max(1, unit * 0.03);
    g.strokeRect(x, -unit * 0.22, leaf, unit * 0.44);
    g.fillStyle = open > 0.5 ? '#5dfc9a' : '#ffb347';
    g.fillRect(side < 0 ? x + leaf - unit * 0.1 : x + unit * 0.05, -unit * 0.1, unit * 0.05, unit * 0.2);
  }
  g.restore();
}
