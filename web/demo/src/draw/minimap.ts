import { Enemy, Item, Player, Type } from '../arena/contract.js';
import { isAlive, type Game, type Me } from '../arena/game.js';
import type { Camera } from './camera.js';
import { colorOf, itemColors, playerColors } from './palette.js';

/** The whole arena, small: walls, everyone, and what part of it is seen. */
export class Minimap {
  private readonly ground = document.createElement('canvas');
  private readonly g: CanvasRenderingContext2D;
  private readonly unit: number;

  constructor(
    canvas: HTMLCanvasElement,
    private readonly game: Game,
  ) {
    const size = canvas.clientWidth || 168;
    const ratio = Math.min(2, devicePixelRatio || 1);
    canvas.width = canvas.height = size * ratio;
    this.g = canvas.getContext('2d') as CanvasRenderingContext2D;
    this.unit = (size * ratio) / Math.max(game.grid.width, game.grid.height);
    this.paintGround(canvas.width);
  }

  draw(camera: Camera, me: Me | undefined): void {
    const { g, unit } = this;
    g.clearRect(0, 0, g.canvas.width, g.canvas.height);
    g.drawImage(this.ground, 0, 0);
    for (const e of this.game.room.world.entities.values()) {
      if (e.type.index === Type.item) this.dot(e.int(Item.x), e.int(Item.y), colorOf(itemColors, e.int(Item.kind)), 0.38);
      else if (e.type.index === Type.enemy) this.dot(e.int(Enemy.x), e.int(Enemy.y), '#ff5d4a', 0.6);
      else if (e.type.index === Type.player && e !== me?.entity && isAlive(e.int(Player.flags))) {
        this.dot(e.int(Player.x), e.int(Player.y), colorOf(playerColors, e.int(Player.color)), 1);
      }
    }
    const w = camera.width / camera.scale;
    const h = camera.height / camera.scale;
    g.strokeStyle = 'rgba(220,232,255,0.35)';
    g.lineWidth = 1;
    g.strokeRect((camera.x - w / 2) * unit, (camera.y - h / 2) * unit, w * unit, h * unit);
    if (me === undefined) return;
    g.fillStyle = '#ffffff';
    g.beginPath();
    g.arc(me.x * unit, me.y * unit, unit * 1.25, 0, 2 * Math.PI);
    g.fill();
    g.strokeStyle = colorOf(playerColors, me.entity.int(Player.color));
    g.lineWidth = unit * 0.8;
    g.stroke();
  }

  private dot(x: number, y: number, color: string, size: number): void {
    this.g.fillStyle = color;
    this.g.beginPath();
    this.g.arc((x / 256) * this.unit, (y / 256) * this.unit, size * this.unit, 0, 2 * Math.PI);
    this.g.fill();
  }

  private paintGround(size: number): void {
    this.ground.width = this.ground.height = size;
    const g = this.ground.getContext('2d') as CanvasRenderingContext2D;
    const { grid } = this.game;
    for (let y = 0; y < grid.height; y++) {
      for (let x = 0; x < grid.width; x++) {
        const door = grid.door(x, y);
        g.fillStyle = door ? '#b5813c' : grid.solid(x, y) ? '#4d5f84' : '#121827';
        const [left, top] = [Math.floor(x * this.unit), Math.floor(y * this.unit)];
        g.fillRect(left, top, Math.ceil((x + 1) * this.unit) - left, Math.ceil((y + 1) * this.unit) - top);
      }
    }
  }
}
