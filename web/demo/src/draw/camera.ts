/** What part of the world is seen, and how large. World positions are in tiles, screen ones in CSS pixels. */
export class Camera {
  x = 0;
  y = 0;
  /** CSS pixels per tile. */
  scale = 48;
  width = 0;
  height = 0;
  private shakeLeft = 0;
  private shiftX = 0;
  private shiftY = 0;
  private placed = false;

  /** @param mapWidth, mapHeight in tiles: the view stays near them */
  constructor(
    private readonly mapWidth: number,
    private readonly mapHeight: number,
  ) {}

  /** Fits the view to a surface: about 15 tiles high, or 20 wide on narrow screens. */
  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    this.scale = Math.max(26, Math.min(height / 15, width / 17, 76));
  }

  /** Follows a point that is looked at from, leaning a little toward where the player aims. */
  follow(x: number, y: number, leanX: number, leanY: number, passedMs: number): void {
    let near = this.placed ? 1 - 0.5 ** (passedMs / 70) : 1;
    this.placed = true;
    const toX = within(x + leanX, this.mapWidth, this.width / this.scale);
    const toY = within(y + leanY, this.mapHeight, this.height / this.scale);
    if (Math.hypot(toX - this.x, toY - this.y) > 14) near = 1; // a respawn elsewhere
    this.x += (toX - this.x) * near;
    this.y += (toY - this.y) * near;
    this.shakeLeft = Math.max(0, this.shakeLeft - passedMs / 1000);
    const force = this.shakeLeft * this.shakeLeft * 0.9;
    this.shiftX = (Math.random() - 0.5) * force;
    this.shiftY = (Math.random() - 0.5) * force;
  }

  /** Shakes; 1 is a heavy blow. */
  shake(force: number): void {
    this.shakeLeft = Math.min(1, Math.max(this.shakeLeft, force));
  }

  screenX(x: number): number {
    return (x - this.x - this.shiftX) * this.scale + this.width / 2;
  }

  screenY(y: number): number {
    return (y - this.y - this.shiftY) * this.scale + this.height / 2;
  }

  /** Whether something of a radius around a point can be seen. */
  sees(x: number, y: number, radius: number): boolean {
    const margin = radius * this.scale;
    const sx = this.screenX(x);
    const sy = this.screenY(y);
    return sx > -margin && sy > -margin && sx < this.width + margin && sy < this.height + margin;
  }
}

const beyond = 2.5; // tiles of the outside that may be seen

/** Keeps a view of some tiles on a map of some tiles; a map smaller than the view is put in its middle. */
function within(at: number, map: number, view: number): number {
  const least = view / 2 - beyond;
  const most = map - least;
  return least > most ? map / 2 : Math.min(most, Math.max(least, at));
}
