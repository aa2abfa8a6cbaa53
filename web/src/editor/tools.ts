// The pointer on the sheet: choosing and moving, drawing panels and inner lines, sewing, darts. Two fingers, the wheel and the middle button move the view.

import { add, distance, mix, sub } from './curve';
import type { Point } from './curve';
import { addDart, addLine, addPanel, addSeam, bulgeThrough, moveCorner, moveJoint, panelOf, splitEdge } from './edits';
import type { Store } from './history';
import { corner, edgeLength, edgePoint } from './model';
import type { Line } from './model';
import type { Hit, Selection, Sheet } from './sheet';

export const tools = ['select', 'draw', 'seam', 'dart', 'line', 'corner'] as const;
export type Tool = (typeof tools)[number];
export const hints: Record<Tool, string> = {
  select: 'Click panels, edges and corners; drag to move. Delete removes. Double-click an edge for a corner.',
  draw: 'Click corner after corner; click the first one (or Enter) to close the outline. Esc gives up.',
  seam: 'Click one edge, then the edge that it is sewn to.',
  dart: 'Press on an edge and drag inwards to the point of the dart.',
  line: 'Click points inside a panel; Enter or a double-click ends the line.',
  corner: 'Click an edge to put a corner there.',
};

export class Tools {
  tool: Tool = 'select';
  snap = true;
  lineKind: Line['kind'] = 'internal';
  private hold: { hit: Hit; last: Point; merge: string } | null = null;
  private pan: { x: number; y: number; middle: Point } | null = null;
  private fingers = new Map<number, Point>();
  private pinch: { size: number; middle: Point } | null = null;

  constructor(private sheet: Sheet, private store: Store, private say: (text: string, bad?: boolean) => void, private changed: () => void) {
    const svg = sheet.svg;
    svg.addEventListener('pointerdown', (e) => this.down(e));
    svg.addEventListener('pointermove', (e) => this.move(e));
    for (const type of ['pointerup', 'pointercancel'] as const) svg.addEventListener(type, (e) => this.up(e));
    svg.addEventListener('dblclick', (e) => this.double(e));
    svg.addEventListener('wheel', (e) => {
      e.preventDefault();
      sheet.zoom(Math.exp(-e.deltaY * 0.0015), sheet.fromClient(e.clientX, e.clientY));
    }, { passive: false });
    svg.addEventListener('contextmenu', (e) => e.preventDefault());
  }

  choose(tool: Tool) {
    this.tool = tool;
    this.drop();
  }

  /** Gives up what is half drawn. */
  drop() {
    this.sheet.pending = [];
    this.sheet.picked = null;
    this.changed();
  }

  select(selection: Selection) {
    this.sheet.selection = selection;
    this.changed();
  }

  // To whole centimetres, or onto a corner that is there.
  private snapped(p: Point, e: { altKey: boolean }): Point {
    if (!this.snap || e.altKey) return p;
    return [Math.round(p[0] * 100) / 100, Math.round(p[1] * 100) / 100];
  }

  private down(e: PointerEvent) {
    this.sheet.svg.focus({ preventScroll: true });
    this.fingers.set(e.pointerId, [e.clientX, e.clientY]);
    this.sheet.svg.setPointerCapture(e.pointerId);
    if (this.fingers.size === 2) {
      this.hold = null;
      const [a, b] = [...this.fingers.values()];
      this.pinch = { size: distance(a, b), middle: mix(a, b, 0.5) };
      return;
    }
    if (e.button === 1 || e.button === 2 || e.shiftKey) {
      this.pan = { x: e.clientX, y: e.clientY, middle: this.sheet.middle };
      return;
    }
    if (e.button !== 0) return;
    const p = this.sheet.fromClient(e.clientX, e.clientY);
    const reach = e.pointerType === 'touch' ? 18 : 9;
    const hit = this.sheet.hit(p, reach);
    switch (this.tool) {
      case 'select': this.take(hit, p, e); break;
      case 'draw': this.drawAt(p, e, reach); break;
      case 'seam': this.sew(hit); break;
      case 'line': this.lineAt(p, e); break;
      case 'corner':
        if (hit.kind === 'edge') this.addCorner(hit.panel, hit.edge, p);
        break;
      case 'dart':
        if (hit.kind === 'edge') this.startDart(hit.panel, hit.edge, p);
        else this.say('A dart starts at an edge.');
        break;
    }
  }

  private take(hit: Hit, p: Point, e: PointerEvent) {
    if (hit.kind === 'sheet') {
      this.pan = { x: e.clientX, y: e.clientY, middle: this.sheet.middle };
      this.select({ kind: 'none' });
      return;
    }
    if (hit.kind === 'panel' || hit.kind === 'edge' || hit.kind === 'corner' || hit.kind === 'line') this.select(hit);
    else if (hit.kind === 'apex' || hit.kind === 'mouth') this.select({ kind: 'dart', panel: hit.panel, dart: hit.dart });
    this.hold = { hit, last: p, merge: `drag ${e.timeStamp}` };
  }

  private move(e: PointerEvent) {
    if (this.fingers.has(e.pointerId)) this.fingers.set(e.pointerId, [e.clientX, e.clientY]);
    if (this.pinch && this.fingers.size === 2) {
      const [a, b] = [...this.fingers.values()];
      const middle = mix(a, b, 0.5);
      const by = sub(middle, this.pinch.middle);
      this.sheet.middle = add(this.sheet.middle, [-by[0] / this.sheet.scale, by[1] / this.sheet.scale]);
      this.sheet.zoom(distance(a, b) / this.pinch.size, this.sheet.fromClient(...middle));
      this.pinch = { size: distance(a, b), middle };
      return;
    }
    if (this.pan) {
      this.sheet.middle = add(this.pan.middle, [-(e.clientX - this.pan.x) / this.sheet.scale, (e.clientY - this.pan.y) / this.sheet.scale]);
      this.sheet.draw();
      return;
    }
    const p = this.sheet.fromClient(e.clientX, e.clientY);
    if (this.hold) this.drag(p, e);
    else if (this.sheet.pending.length) {
      this.sheet.pointer = this.snapped(p, e);
      this.sheet.draw();
    }
  }

  private drag(p: Point, e: PointerEvent) {
    const { hit, merge, last } = this.hold!;
    if (hit.kind === 'sheet') return;
    const to = this.snapped(p, e);
    this.store.change((pattern) => {
      const panel = panelOf(pattern, hit.panel);
      if (!panel) return;
      const own = sub(to, panel.sheet);
      switch (hit.kind) {
        case 'panel': case 'edge': case 'line': panel.sheet = add(panel.sheet, sub(p, last)); break;
        case 'corner': moveCorner(panel, hit.edge, own); break;
        case 'joint': moveJoint(panel, hit.edge, hit.piece, own); break;
        case 'control': panel.edges[hit.edge].pieces[hit.piece].control![hit.control] = sub(p, panel.sheet); break;
        case 'arc': {
          const pieces = panel.edges[hit.edge].pieces;
          const from = hit.piece ? pieces[hit.piece - 1].to : corner(panel, hit.edge);
          pieces[hit.piece].bulge = bulgeThrough(from, pieces[hit.piece].to, sub(p, panel.sheet)) || 1e-3;
          break;
        }
        case 'apex': panel.darts[hit.dart].apex = own; break;
        case 'mouth': {
          const dart = panel.darts[hit.dart];
          const at = nearestFraction(panel, dart.edge, sub(p, panel.sheet));
          if (hit.end) dart.to = Math.max(at, dart.from + 0.01);
          else dart.from = Math.min(at, dart.to - 0.01);
          break;
        }
      }
    }, merge);
    this.hold!.last = p;
  }

  private up(e: PointerEvent) {
    this.fingers.delete(e.pointerId);
    this.pinch = null;
    this.pan = null;
    if (this.hold) this.store.settle();
    this.hold = null;
  }

  private double(e: MouseEvent) {
    const p = this.sheet.fromClient(e.clientX, e.clientY);
    if (this.tool === 'line') {
      this.sheet.pending.pop(); // the second click's own point
      this.finish();
      return;
    }
    const hit = this.sheet.hit(p);
    if (this.tool === 'select' && hit.kind === 'edge') this.addCorner(hit.panel, hit.edge, p);
  }

  private addCorner(name: string, edge: number, p: Point) {
    this.store.change((pattern) => {
      const panel = panelOf(pattern, name);
      splitEdge(pattern, panel, edge, sub(p, panel.sheet));
    });
    this.select({ kind: 'corner', panel: name, edge: edge + 1 });
  }

  private drawAt(p: Point, e: PointerEvent, reach: number) {
    const pending = this.sheet.pending;
    if (pending.length > 2 && distance(p, pending[0]) * this.sheet.scale < reach + 3) return this.finish();
    const at = this.snapped(p, e);
    if (pending.length && distance(at, pending.at(-1)!) < 1e-4) return;
    pending.push(at);
    this.sheet.pointer = at;
    this.sheet.draw();
  }

  private lineAt(p: Point, e: PointerEvent) {
    const at = this.snapped(p, e);
    this.sheet.pending.push(at);
    this.sheet.pointer = at;
    if (this.lineKind === 'drill') this.finish();
    else this.sheet.draw();
  }

  /** Closes the outline, ends the line. */
  finish() {
    const points = this.sheet.pending;
    this.sheet.pending = [];
    if (this.tool === 'draw' && points.length > 2) {
      let name = '';
      this.store.change((pattern) => (name = addPanel(pattern, points).name));
      this.tool = 'select';
      this.select({ kind: 'panel', panel: name });
    } else if (this.tool === 'line' && points.length > (this.lineKind === 'drill' ? 0 : 1)) {
      const hit = this.sheet.hit(points[0], 0);
      if (hit.kind === 'sheet') {
        this.say('Inner lines are drawn on a panel.');
      } else {
        this.store.change((pattern) => {
          const panel = panelOf(pattern, hit.panel);
          addLine(panel, points.map((q) => sub(q, panel.sheet)), this.lineKind);
        });
        this.select({ kind: 'panel', panel: hit.panel });
      }
    }
    this.changed();
  }

  /** The first or the second edge of a seam. */
  sew(hit: Hit | { kind: 'edge'; panel: string; edge: number }) {
    if (hit.kind !== 'edge') return;
    const edge = { panel: hit.panel, edge: hit.edge };
    if (!this.sheet.picked) {
      this.sheet.picked = edge;
      this.changed();
      return;
    }
    const first = this.sheet.picked;
    this.sheet.picked = null;
    let wrong = '';
    this.store.change((pattern) => (wrong = addSeam(pattern, first, edge)));
    if (wrong) this.say(wrong, true);
    this.select(wrong ? { kind: 'none' } : { kind: 'seam', seam: this.store.pattern.seams.length - 1 });
  }

  private startDart(name: string, edge: number, p: Point) {
    let wrong = '';
    this.store.change((pattern) => {
      const panel = panelOf(pattern, name);
      const own = sub(p, panel.sheet);
      const middle = panel.edges.reduce((s, _, e) => add(s, corner(panel, e)), [0, 0] as Point).map((x) => x / panel.edges.length) as Point;
      const inwards = sub(middle, own);
      const size = Math.hypot(...inwards) || 1;
      wrong = addDart(panel, edge, own, add(own, [(0.08 * inwards[0]) / size, (0.08 * inwards[1]) / size]));
    });
    if (wrong) return this.say(wrong, true);
    const dart = panelOf(this.store.pattern, name).darts.length - 1;
    this.select({ kind: 'dart', panel: name, dart });
    this.hold = { hit: { kind: 'apex', panel: name, dart }, last: p, merge: 'dart' };
  }
}

function nearestFraction(panel: Parameters<typeof edgeLength>[0], edge: number, p: Point): number {
  let [best, at] = [Infinity, 0];
  for (let i = 0; i <= 200; i++) {
    const away = distance(p, edgePoint(panel, edge, i / 200));
    if (away < best) (best = away), (at = i / 200);
  }
  return at;
}
