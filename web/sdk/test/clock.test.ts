import { describe, expect, test } from 'vitest';
import { Clock, Pacer } from '../src/clock.js';
import { random } from './bytes.js';

const ms = 1000 / 30;

describe('the clock', () => {
  test('shows two ticks behind on a steady line', () => {
    const clock = new Clock(30);
    for (let tick = 100; tick < 200; tick++) clock.arrived(tick, (tick - 100) * ms);
    const now = 99 * ms;
    expect(clock.serverTick(now)).toBeCloseTo(199);
    expect(clock.behind).toBe(2);
    expect(clock.playTick(now)).toBeCloseTo(197);
  });

  test('falls further behind on a line with jitter, and comes nearer again', () => {
    const clock = new Clock(30);
    const rnd = random(3);
    let tick = 0;
    const run = (n: number, jitter: number): void => {
      for (; n > 0; n--) clock.arrived(++tick, tick * ms + rnd() * jitter);
    };
    run(100, 150);
    expect(clock.behind).toBeGreaterThan(4);
    expect(clock.behind).toBeLessThanOrEqual(1 + 150 / ms);
    run(100, 0);
    expect(clock.behind).toBeCloseTo(2);
  });

  test('what is shown never runs backward, nor faster than a tenth more, while it adjusts', () => {
    const clock = new Clock(30);
    const rnd = random(5);
    let last = -1;
    let tick = 0;
    for (let now = 0; now < 20_000; now += 16) {
      const jitter = now > 5000 && now < 9000 ? 200 : 5;
      while (tick * ms < now) clock.arrived(++tick, now + rnd() * jitter);
      if (tick < 3) continue;
      const shown = clock.playTick(now);
      if (last >= 0) {
        expect(shown).toBeGreaterThanOrEqual(last);
        expect(shown - last).toBeLessThanOrEqual((16 / ms) * 1.1 + 1e-9);
      }
      last = shown;
    }
    expect(clock.serverTick(20_000) - last).toBeLessThan(3.5);
  });

  test('jumps after a long pause', () => {
    const clock = new Clock(30);
    clock.arrived(100, 0);
    clock.playTick(0);
    clock.arrived(5000, 1000);
    expect(clock.playTick(1000)).toBeCloseTo(4998);
  });
});

describe('the pacer', () => {
  test('ticks at its rate whatever the frames do', () => {
    const pacer = new Pacer(30);
    let ticks = 0;
    for (let now = 0; now < 10_000; now += 7) pacer.advance(now, () => ticks++);
    expect(ticks).toBeGreaterThanOrEqual(300);
    expect(ticks).toBeLessThanOrEqual(301);
  });

  test('catches up a few ticks after a pause and forgets the rest', () => {
    const pacer = new Pacer(30);
    let ticks = 0;
    const at = (now: number): void => pacer.advance(now, () => ticks++);
    at(0);
    at(100);
    expect(ticks).toBe(4);
    ticks = 0;
    at(60_000);
    expect(ticks).toBeLessThanOrEqual(4);
  });

  test('tells how far it is to the next tick', () => {
    const pacer = new Pacer(10);
    pacer.advance(0, () => {});
    expect(pacer.fraction(0)).toBe(0);
    expect(pacer.fraction(50)).toBeCloseTo(0.5);
    expect(pacer.fraction(500)).toBe(1);
  });
});
