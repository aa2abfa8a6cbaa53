// What the editor needs of the page around it.

import type { FromWorker, ToWorker } from '../messages';
import type { View } from '../view';

export type Arranged = Extract<FromWorker, { type: 'arranged' }>;
export type Converted = Extract<FromWorker, { type: 'converted' }>;

export type Host = {
  view: View;
  tell(message: ToWorker): void;
  say(text: string, bad?: boolean): void;
  /** Reads a file of the simulator's file system and writes it in another format. */
  convert(from: string, to: string): Promise<Converted>;
  arrange(scene: string | null, pattern: string, edge: number): Promise<Arranged>;
  /** Loads a scene of the simulator's file system and plays it; resolves to what was wrong, '' if nothing. */
  drape(path: string): Promise<string>;
  /** Puts the files of a scene of the gallery onto the simulator's file system. */
  sceneFiles(folder: string): Promise<void>;
  fabrics: { name: string; use: string; color: string }[];
};
