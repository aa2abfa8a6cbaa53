// What the page and its worker say to each other.

/** A file for the simulator's file system. */
export type File_ = { path: string; data: Uint8Array };

export const colours = ['none', 'strain', 'tension', 'speed', 'curvature', 'size', 'contact', 'distance'] as const;
export type Colour = (typeof colours)[number];

export type ToWorker =
  | { type: 'files'; files: File_[] }
  | { type: 'scene'; path: string; sets: string[]; fabric: string; key: number } // fabric: file, '' the scene's own
  | { type: 'arrange'; scene: string | null; pattern: string; edge: number; key: number } // scene: bodies to show anew
  | { type: 'sew'; pattern: string; material: string; edge: number; key: number } // around the bodies that were arranged last
  | { type: 'fabric'; path: string } // of all cloth; '': the scene's own
  | { type: 'remeshing'; kind: number; sizeMin: number; sizeMax: number; maxFaces: number; levels: number }
  | { type: 'play'; on: boolean }
  | { type: 'step'; count: number }
  | { type: 'colour'; colour: Colour }
  | { type: 'wind'; velocity: [number, number, number] }
  | { type: 'grab'; origin: number[]; direction: number[] }
  | { type: 'drag'; by: number[] }
  | { type: 'release' }
  | { type: 'drawn' }
  | { type: 'convert'; from: string; to: string; key: number };

export const reportNames = [
  'time', 'steps', 'dt', 'faces', 'nodes', 'ms', 'physics', 'strain', 'collision', 'remesh', 'newton', 'linear',
  'contacts', 'splits', 'collapses', 'memory',
] as const;
export type Report = Record<(typeof reportNames)[number], number>;

/** Nine floats a corner: place, normal, u v, number to colour by. */
export type Shape = { name: string; faces: number; corners: Float32Array; plane?: boolean };

export type FromWorker =
  | { type: 'ready'; threads: number }
  | { type: 'loaded'; key: number; json: string; notes: string; engines: string[] }
  | { type: 'failed'; key: number; message: string }
  | { type: 'frame'; report: Report; cloths: Shape[]; bodies: Shape[]; hash: string; first: boolean }
  | { type: 'stopped'; message: string }
  | { type: 'playing'; on: boolean } // what was asked for last is so
  | { type: 'changed'; what: 'fabric' | 'remeshing'; message: string } // why not, '': it is
  | { type: 'arranged'; key: number; panels: Shape[]; bodies: Shape[] | null; message: string }
  // stage: 0 seams are drawn together, 1 the body grows; widest gap [m]; stiffness of the tie that holds each node of the rim [N/m]
  | { type: 'sewn'; key: number; stage: number; part: number; gap: number; tie: number; seam: string; done: boolean; message: string }
  | { type: 'held'; what: number }
  | { type: 'converted'; key: number; data: Uint8Array; message: string; leftOut: string; ok: boolean };
