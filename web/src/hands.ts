// Pointer and keys over the picture: cloth and bodies are pulled, panels moved, the view turned.

import type { Vector3 } from 'three';
import type { Editor } from './editor/editor';
import type { ToWorker } from './messages';
import type { View } from './view';

export type Page = {
  view: View;
  tell(message: ToWorker): void;
  recorded(): boolean; // a recording is shown, of which nothing can be pulled
  editor(): Editor | null; // while it is open
  changed(): void; // the picture is to be drawn again
  keys: Record<string, () => void>;
};

export function listen(canvas: HTMLCanvasElement, page: Page) {
  listenToPointer(canvas, page);
  listenToKeys(page);
}

function listenToPointer(canvas: HTMLCanvasElement, { view, tell, recorded, editor }: Page) {
  let held: { id: number; from: { x: number; y: number; z: number }; point: Vector3; panel?: boolean } | null = null;
  canvas.addEventListener('pointerdown', (e) => {
    if (e.button !== 0 || recorded() || held) return;
    const hit = view.pick(e.clientX, e.clientY);
    if (!hit) return;
    if (editor()?.grab(hit.name, hit.point, e)) {
      held = { id: e.pointerId, from: hit.point, point: hit.point, panel: true };
    } else {
      const ray = view.ray(e.clientX, e.clientY);
      tell({ type: 'grab', origin: ray.origin.toArray(), direction: ray.direction.toArray() });
      held = { id: e.pointerId, from: hit.point, point: hit.point };
    }
    view.controls.enabled = false;
    canvas.setPointerCapture(e.pointerId);
  }, { capture: true });
  canvas.addEventListener('pointermove', (e) => {
    if (held?.id !== e.pointerId) return;
    const to = view.across(e.clientX, e.clientY, held.point);
    if (to && held.panel) editor()?.dragTo(to, e);
    else if (to) tell({ type: 'drag', by: [to.x - held.from.x, to.y - held.from.y, to.z - held.from.z] });
  });
  for (const type of ['pointerup', 'pointercancel'] as const)
    canvas.addEventListener(type, (e) => {
      if (held?.id !== e.pointerId) return;
      const panel = held.panel;
      held = null;
      view.controls.enabled = true;
      if (panel) editor()?.letGo();
      else tell({ type: 'release' });
    });
}

function listenToKeys({ view, editor, changed, keys }: Page) {
  const turn = (dx: number, dy: number) => {
    const offset = view.camera.position.clone().sub(view.controls.target);
    const length = offset.length();
    const azimuth = Math.atan2(offset.x, offset.z) + dx;
    const polar = Math.min(Math.max(Math.acos(offset.y / length) + dy, 0.05), 3);
    offset.set(Math.sin(polar) * Math.sin(azimuth), Math.cos(polar), Math.sin(polar) * Math.cos(azimuth)).multiplyScalar(length);
    view.camera.position.copy(view.controls.target).add(offset);
  };
  const zoom = (f: number) => view.camera.position.sub(view.controls.target).multiplyScalar(f).add(view.controls.target);
  const all: Record<string, () => void> = {
    ...keys,
    ArrowLeft: () => turn(-0.1, 0), ArrowRight: () => turn(0.1, 0), ArrowUp: () => turn(0, -0.08), ArrowDown: () => turn(0, 0.08),
    '+': () => zoom(0.9), '-': () => zoom(1.1),
  };
  window.addEventListener('keydown', (e) => {
    const at = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || (editor() && document.getElementById('editor')!.contains(at))) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName) || (at.tagName === 'BUTTON' && (e.key === ' ' || e.key === 'Enter'))) return;
    const act = all[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!act) return;
    e.preventDefault();
    act();
    changed();
  });
}
