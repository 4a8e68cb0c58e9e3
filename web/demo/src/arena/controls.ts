import { toAim, type Intent } from './contract.js';

/** Things done once per press rather than held. */
export type Action = 'interact' | 'strike' | 'respawn' | 'overlay' | 'scores' | 'scoresEnd';

const moveKeys: Readonly<Record<string, readonly [number, number]>> = {
  KeyW: [0, -1],
  ArrowUp: [0, -1],
  KeyS: [0, 1],
  ArrowDown: [0, 1],
  KeyA: [-1, 0],
  ArrowLeft: [-1, 0],
  KeyD: [1, 0],
  ArrowRight: [1, 0],
};

const full = 127;

/**
 * Controls turns keys, mouse and touches into what the player wants. Positions
 * are in CSS pixels of the surface.
 */
export class Controls {
  /** Where the mouse is, for the crosshair; undefined while touch is used. */
  pointer: { x: number; y: number } | undefined;
  /** The stick of each thumb, for drawing it. */
  readonly sticks: { left: Stick | undefined; right: Stick | undefined } = { left: undefined, right: undefined };
  /** Whether the player plays by touch: where that is the device's way, or once it was used. */
  touch = matchMedia('(pointer: coarse)').matches;
  /** The sticks that were used so far. */
  readonly used = { left: false, right: false };

  private readonly held = new Set<string>();
  private attacking = false;
  private dashing = false; // pressed since the last intent
  private aim = 0;
  private aimFrom = { x: 0, y: 0 };

  constructor(
    private readonly surface: HTMLElement,
    private readonly act: (a: Action) => void,
  ) {
    addEventListener('keydown', (e) => this.keyDown(e));
    addEventListener('keyup', (e) => this.keyUp(e));
    addEventListener('blur', () => this.release());
    surface.addEventListener('contextmenu', (e) => e.preventDefault());
    surface.addEventListener('pointerdown', (e) => this.pointerDown(e));
    surface.addEventListener('pointermove', (e) => this.pointerMove(e));
    for (const name of ['pointerup', 'pointercancel'] as const) surface.addEventListener(name, (e) => this.pointerUp(e));
  }

  /** Where on the surface the player stands: aiming starts there. */
  standAt(x: number, y: number): void {
    this.aimFrom = { x, y };
    if (this.pointer !== undefined) this.aim = Math.atan2(this.pointer.y - y, this.pointer.x - x);
  }

  /** What is wanted now. */
  intent(): Intent {
    const [x, y] = this.move();
    const dash = this.dashing || this.held.has('Space') || this.held.has('ShiftLeft') || this.held.has('ShiftRight');
    this.dashing = false;
    return {
      moveX: Math.round(x * full),
      moveY: Math.round(y * full),
      dash,
      attack: this.attacking || this.sticks.right?.pulled === true,
      aim: toAim(this.aim),
    };
  }

  /** Presses the dash once, for the button on touch screens. */
  dash(): void {
    this.dashing = true;
  }

  private move(): [number, number] {
    const left = this.sticks.left;
    if (left !== undefined) return [left.x, left.y];
    let x = 0;
    let y = 0;
    for (const key of this.held) {
      const [dx, dy] = moveKeys[key] ?? [0, 0];
      x += dx;
      y += dy;
    }
    const length = Math.hypot(x, y);
    return length > 1 ? [x / length, y / length] : [Math.sign(x), Math.sign(y)];
  }

  private keyDown(e: KeyboardEvent): void {
    if (e.target instanceof HTMLInputElement || e.ctrlKey || e.metaKey) return;
    if (e.code in moveKeys || e.code === 'Space' || e.code === 'Tab') e.preventDefault();
    if (e.code === 'Tab') this.act('scores');
    if (e.repeat) return;
    this.held.add(e.code);
    if (e.code === 'Space' || e.code.startsWith('Shift')) this.dashing = true;
    if (e.code === 'KeyE') this.act('interact');
    if (e.code === 'KeyF') this.act('strike');
    if (e.code === 'KeyO' || e.code === 'F3') {
      e.preventDefault();
      this.act('overlay');
    }
    if (e.code === 'KeyR' || e.code === 'Enter' || e.code === 'Space') this.act('respawn');
  }

  private keyUp(e: KeyboardEvent): void {
    this.held.delete(e.code);
    if (e.code === 'Tab') this.act('scoresEnd');
  }

  private release(): void {
    this.held.clear();
    this.attacking = false;
    this.sticks.left = this.sticks.right = undefined;
    this.act('scoresEnd');
  }

  private pointerDown(e: PointerEvent): void {
    if (e.pointerType === 'touch') {
      this.touch = true;
      this.pointer = undefined;
      const { x, y } = this.at(e);
      const side = x < this.surface.clientWidth / 2 ? 'left' : 'right';
      this.sticks[side] ??= new Stick(e.pointerId, x, y);
      this.surface.setPointerCapture(e.pointerId);
      this.act('respawn');
      return;
    }
    this.pointerMove(e);
    if (e.button === 0) this.attacking = true;
    if (e.button === 2) this.act('strike');
    this.act('respawn');
  }

  private pointerMove(e: PointerEvent): void {
    const { x, y } = this.at(e);
    if (e.pointerType !== 'touch') {
      this.pointer = { x, y };
      this.aim = Math.atan2(y - this.aimFrom.y, x - this.aimFrom.x);
      return;
    }
    for (const stick of [this.sticks.left, this.sticks.right]) {
      if (stick?.id !== e.pointerId) continue;
      stick.to(x, y);
      this.used[stick === this.sticks.left ? 'left' : 'right'] ||= stick.pulled;
      if (stick === this.sticks.right && stick.pulled) this.aim = Math.atan2(stick.y, stick.x);
      else if (this.sticks.right === undefined && stick.pulled) this.aim = Math.atan2(stick.y, stick.x);
    }
  }

  private pointerUp(e: PointerEvent): void {
    if (e.pointerType !== 'touch') {
      if (e.button === 0) this.attacking = false;
      return;
    }
    if (this.sticks.left?.id === e.pointerId) this.sticks.left = undefined;
    if (this.sticks.right?.id === e.pointerId) this.sticks.right = undefined;
  }

  private at(e: PointerEvent): { x: number; y: number } {
    const box = this.surface.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  }
}

/** Reach of a stick in pixels. */
export const stickReach = 56;

/** A stick that appears under the thumb. */
export class Stick {
  /** -1 to 1. */
  x = 0;
  y = 0;

  constructor(
    readonly id: number,
    readonly baseX: number,
    readonly baseY: number,
  ) {}

  to(x: number, y: number): void {
    const dx = (x - this.baseX) / stickReach;
    const dy = (y - this.baseY) / stickReach;
    const length = Math.max(1, Math.hypot(dx, dy));
    this.x = dx / length;
    this.y = dy / length;
  }

  /** Whether it is held far enough out to mean it. */
  get pulled(): boolean {
    return Math.hypot(this.x, this.y) > 0.3;
  }
}
