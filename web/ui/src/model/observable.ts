// State that views follow. Changes are told at most once a frame, so that a burst of messages is
// drawn once.
import { useEffect, useState } from "preact/hooks";

export class Observable {
  private readonly listeners = new Set<() => void>();
  private told = true;

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  protected changed(): void {
    if (this.told) {
      this.told = false;
      requestAnimationFrame(() => {
        this.told = true;
        for (const listener of [...this.listeners]) {
          listener();
        }
      });
    }
  }
}

/** Draws the component again when one of these changes. */
export function useObservable(...watched: Observable[]): void {
  const [, draw] = useState(0);
  useEffect(() => {
    const ends = watched.map((each) => each.listen(() => draw((count) => count + 1)));
    return () => {
      for (const end of ends) {
        end();
      }
    };
    // The same objects in every call: they live as long as the page.
  }, watched);
}
