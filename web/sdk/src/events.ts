/** Removes the listener that it was returned for. */
export type Off = () => void;

/** A typed emitter. `Map` gives the argument of each event by name. */
export class Emitter<Events extends object> {
  private readonly listeners = new Map<keyof Events, Set<(e: never) => void>>();

  /** Calls listener at each event of that name, until the returned function is called. */
  on<K extends keyof Events>(name: K, listener: (e: Events[K]) => void): Off {
    let set = this.listeners.get(name);
    if (set === undefined) this.listeners.set(name, (set = new Set()));
    set.add(listener as (e: never) => void);
    return () => set.delete(listener as (e: never) => void);
  }

  /** As {@link on}, for the next event only. */
  once<K extends keyof Events>(name: K, listener: (e: Events[K]) => void): Off {
    const off = this.on(name, (e) => {
      off();
      listener(e);
    });
    return off;
  }

  /**
   * Calls the listeners. One that throws does not keep the others from hearing;
   * its error is reported as uncaught.
   */
  emit<K extends keyof Events>(name: K, e: Events[K]): void {
    for (const listener of [...(this.listeners.get(name) ?? [])]) {
      try {
        (listener as (e: Events[K]) => void)(e);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  /** Forgets all listeners. */
  clear(): void {
    this.listeners.clear();
  }
}
