/** Colours of players, by the number in their profile. */
export const playerColors = [
  '#4cc9f0', '#ff6b6b', '#ffd166', '#06d6a0', '#c77dff', '#ff9f1c', '#80ed99', '#f72585',
  '#5e9bff', '#e0fbfc', '#b8f35c', '#ff8fab', '#9bf6ff', '#d4a373', '#a0c4ff', '#fdffb6',
] as const;

export const itemColors = ['#5dfc9a', '#ffe45e', '#5ab8ff', '#7af0ff', '#ff5ed2'] as const;
export const enemyColors = ['#8fd14f', '#b476ff', '#ff5d4a'] as const;
export const projectileColors = ['#7df9ff', '#c6ff4a'] as const;

export function colorOf(table: readonly string[], index: number): string {
  return table[index % table.length] as string;
}

const glows = new Map<string, HTMLCanvasElement>();
const glowSize = 128;

/** A soft disc of a colour, drawn once and kept. Paint it with `lighter`. */
export function glow(color: string): HTMLCanvasElement {
  let canvas = glows.get(color);
  if (canvas === undefined) {
    canvas = document.createElement('canvas');
    canvas.width = canvas.height = glowSize;
    const g = canvas.getContext('2d') as CanvasRenderingContext2D;
    const half = glowSize / 2;
    const fade = g.createRadialGradient(half, half, 0, half, half, half);
    fade.addColorStop(0, color);
    fade.addColorStop(0.25, `${color}99`);
    fade.addColorStop(0.6, `${color}2a`);
    fade.addColorStop(1, `${color}00`);
    g.fillStyle = fade;
    g.fillRect(0, 0, glowSize, glowSize);
    glows.set(color, canvas);
  }
  return canvas;
}

/** Paints a glow around a point. */
export function paintGlow(g: CanvasRenderingContext2D, color: string, x: number, y: number, radius: number, alpha = 1): void {
  g.globalAlpha = alpha;
  g.drawImage(glow(color), x - radius, y - radius, 2 * radius, 2 * radius);
  g.globalAlpha = 1;
}

/** A colour of the form #rrggbb, lighter (above 0) or darker (below 0) by a part of 1. */
export function shade(color: string, by: number): string {
  const n = parseInt(color.slice(1), 16);
  const to = by > 0 ? 255 : 0;
  const mix = (v: number): string =>
    Math.round(v + (to - v) * Math.abs(by))
      .toString(16)
      .padStart(2, '0');
  return `#${mix(n >> 16)}${mix((n >> 8) & 255)}${mix(n & 255)}`;
}
