// The pattern being edited: every change can be undone, and is kept in the browser so that a reload loses nothing.

import { empty } from './model';
import type { Pattern } from './model';

const KEY = 'toile-pattern';
const MOST = 200;

export class Store {
  pattern: Pattern = empty();
  private past: string[] = [];
  private future: string[] = [];
  private lastMerge = '';
  private listeners: (() => void)[] = [];

  /** What was kept, if anything. */
  restore(): boolean {
    try {
      const kept = localStorage.getItem(KEY);
      if (!kept) return false;
      this.pattern = { ...empty(), ...(JSON.parse(kept) as Pattern) };
      return true;
    } catch {
      return false;
    }
  }

  listen(listener: () => void) {
    this.listeners.push(listener);
  }

  /** Changes of one `merge` in a row (a drag) are undone together. */
  change(edit: (pattern: Pattern) => void, merge = '') {
    const before = JSON.stringify(this.pattern);
    const draft = JSON.parse(before) as Pattern;
    edit(draft);
    if (JSON.stringify(draft) === before) return;
    if (!merge || merge !== this.lastMerge) {
      this.past.push(before);
      if (this.past.length > MOST) this.past.shift();
    }
    this.lastMerge = merge;
    this.future = [];
    this.pattern = draft;
    this.changed();
  }

  /** The next change starts a new step, whatever its `merge`. */
  settle() {
    this.lastMerge = '';
  }

  replace(pattern: Pattern) {
    this.change((p) => {
      for (const key of Object.keys(p)) delete (p as Record<string, unknown>)[key];
      Object.assign(p, pattern);
    });
  }

  get canUndo() {
    return this.past.length > 0;
  }
  get canRedo() {
    return this.future.length > 0;
  }
  undo() {
    this.step(this.past, this.future);
  }
  redo() {
    this.step(this.future, this.past);
  }

  private step(from: string[], to: string[]) {
    const state = from.pop();
    if (!state) return;
    to.push(JSON.stringify(this.pattern));
    this.pattern = JSON.parse(state) as Pattern;
    this.lastMerge = '';
    this.changed();
  }

  private changed() {
    try {
      localStorage.setItem(KEY, JSON.stringify(this.pattern));
    } catch {
      // no room or not allowed: the page says so once, when it is closed
    }
    for (const listener of this.listeners) listener();
  }
}
