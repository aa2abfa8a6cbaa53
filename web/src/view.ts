// The picture: cloths and bodies from the worker's corners, light, ground, camera; picking with the pointer.

import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import type { Colour, Shape } from './messages';

const CORNER = 9;
const SLOW = 90; // a picture that takes longer [ms], several times in a row, is drawn with less light
const SUNS = [[-0.055, 0.97], [0, 1.01], [0.055, 0.94]]; // turn about the vertical and height above the horizon [rad]

/** Range of the numbers that colours show, and how to write them. */
export const ranges: Record<Colour, { low: number; high: number; unit: string; scale: number; label: string }> = {
  none: { low: 0, high: 1, unit: '', scale: 1, label: 'Fabric' },
  strain: { low: -0.05, high: 0.05, unit: '%', scale: 100, label: 'Strain' },
  tension: { low: 0, high: 0.04, unit: '%', scale: 100, label: 'Tension (stretch)' },
  speed: { low: 0, high: 2, unit: 'm/s', scale: 1, label: 'Speed' },
  curvature: { low: 0, high: 40, unit: '1/m', scale: 1, label: 'Curvature' },
  size: { low: 0.01, high: 0.12, unit: 'mm', scale: 1000, label: 'Edge length' },
  contact: { low: 0, high: 0.02, unit: 'mN', scale: 1000, label: 'Contact force' },
  distance: { low: 0, high: 0.05, unit: 'mm', scale: 1000, label: 'Distance to body' },
};

/** Stops of the palette, dark blue to yellow through green; shared by the shader and the legend. */
export const palette = ['#30508f', '#2f8f9d', '#63b36a', '#e8d44d', '#d1493b'];

type Part = { mesh: THREE.Mesh; buffer: THREE.InterleavedBuffer; capacity: number };

function stops(): string {
  return palette.map((c) => {
    const k = new THREE.Color(c);
    return `vec3(${k.r.toFixed(4)}, ${k.g.toFixed(4)}, ${k.b.toFixed(4)})`;
  }).join(', ');
}

// The ground shows how much of all lights together it misses; three's own material multiplies them.
function shadowMaterial(): THREE.ShadowMaterial {
  const material = new THREE.ShadowMaterial({ opacity: 0.28 });
  material.onBeforeCompile = (shader) => {
    const mask = THREE.ShaderChunk.shadowmask_pars_fragment
      .replace('float shadow = 1.0;', 'float shadow = 1.0; float sum = 0.0;')
      .replace(/shadow \*= receiveShadow \? (getShadow\( directionalShadowMap[^;]*) : 1\.0;/, 'sum += $1;')
      .replace('return shadow;', 'return sum / float(NUM_DIR_LIGHT_SHADOWS);');
    shader.fragmentShader = shader.fragmentShader.replace('#include <shadowmask_pars_fragment>', mask);
  };
  return material;
}

export class View {
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(35, 1, 0.02, 60);
  readonly controls: OrbitControls;
  private scene = new THREE.Scene();
  private cloths = new Map<string, Part>();
  private bodies = new Map<string, Part>();
  private ground: THREE.Mesh;
  private grid: THREE.Mesh;
  private suns: THREE.DirectionalLight[] = []; // a broad light: its parts lie side by side, so that shadows have soft edges
  private sky = new THREE.DirectionalLight(0xe4ecff, 0.9); // from straight above: folds are darker inside, and there is shade under things
  private drawing: WebGLSync | null = null; // the last picture, until the graphics processor is done with it
  private uniforms = {
    wire: { value: 0 }, map: { value: 0 }, low: { value: 0 }, high: { value: 1 },
    wireColour: { value: new THREE.Color('#10141a') },
  };
  private looks = new Map<string, { color: string; back: string }>();
  private caster = new THREE.Raycaster();
  drawn = 0;
  private began = 0; // to draw [ms]
  private slow = 0; // pictures that took too long, one after another
  private plain = false; // drawn with less light

  constructor(private canvas: HTMLCanvasElement) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.05;
    this.camera.position.set(1.4, 1.2, 2.2);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.15;
    this.controls.maxPolarAngle = Math.PI * 0.95;
    this.controls.target.set(0, 0.5, 0);

    this.scene.add(new THREE.HemisphereLight(0xe6edff, 0x8a8078, 1.25));
    for (let i = 0; i < SUNS.length; i++) this.suns.push(new THREE.DirectionalLight(0xfff1e0, 2.7 / SUNS.length));
    for (const light of [...this.suns, this.sky]) {
      light.castShadow = true;
      light.shadow.mapSize.set(1024, 1024);
      light.shadow.bias = -0.0006;
      light.shadow.normalBias = 0.012;
      light.shadow.radius = light === this.sky ? 12 : 8;
      this.scene.add(light, light.target);
    }
    const fill = new THREE.DirectionalLight(0xcfe0ff, 0.45);
    fill.position.set(-2, 0.6, -1.5);
    this.scene.add(fill);

    this.ground = new THREE.Mesh(new THREE.CircleGeometry(12, 64), shadowMaterial());
    this.ground.rotation.x = -Math.PI / 2;
    this.ground.receiveShadow = true;
    this.grid = new THREE.Mesh(new THREE.CircleGeometry(12, 64), this.gridMaterial());
    this.grid.rotation.x = -Math.PI / 2;
    this.scene.add(this.ground, this.grid);
    this.setTheme(false);
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
    this.resize();
  }

  // Lines every 10 cm that fade out with distance.
  private gridMaterial(): THREE.ShaderMaterial {
    return new THREE.ShaderMaterial({
      transparent: true,
      depthWrite: false,
      side: THREE.DoubleSide,
      uniforms: { colour: { value: new THREE.Color('#8090a0') } },
      vertexShader: 'varying vec2 at; void main() { at = position.xy; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }',
      fragmentShader: `varying vec2 at; uniform vec3 colour;
        float lines(float every) { vec2 g = abs(fract(at / every - 0.5) - 0.5) / (fwidth(at / every) + 1e-6); return 1.0 - min(min(g.x, g.y), 1.0); }
        void main() { float fade = exp(-0.6 * length(at)); gl_FragColor = vec4(colour, fade * (0.22 * lines(0.1) + 0.4 * lines(1.0))); }`,
    });
  }

  setTheme(dark: boolean) {
    this.scene.background = new THREE.Color(dark ? '#14181d' : '#e9ecef');
    this.scene.fog = new THREE.Fog(this.scene.background, 6, 14);
    (this.ground.material as THREE.ShadowMaterial).opacity = dark ? 0.75 : 0.5;
    (this.grid.material as THREE.ShaderMaterial).uniforms.colour.value.set(dark ? '#7d8ea3' : '#7f8b98');
    this.draw();
  }

  setWire(on: boolean) {
    this.uniforms.wire.value = on ? 1 : 0;
  }

  setColour(colour: Colour) {
    this.uniforms.map.value = colour === 'none' ? 0 : 1;
    this.uniforms.low.value = ranges[colour].low;
    this.uniforms.high.value = ranges[colour].high;
  }

  setLooks(looks: Map<string, { color: string; back: string }>) {
    this.looks = looks;
    let index = 0;
    for (const [name, part] of this.cloths) (part.mesh.material as THREE.MeshStandardMaterial).color.set(this.colourOf(name, index++));
  }

  private colourOf(name: string, index: number): string {
    return this.looks.get(name)?.color ?? ['#5f86b8', '#b5643c', '#5c8f6b', '#96598e', '#b39b4a'][index % 5];
  }

  // Colours by number, woven texture and wires on top of three's own shading.
  private clothMaterial(name: string, index: number): THREE.Material {
    const colour = this.colourOf(name, index);
    const material = new THREE.MeshPhysicalMaterial({
      color: colour, side: THREE.DoubleSide, roughness: 0.85, metalness: 0, sheen: 0.4, sheenRoughness: 0.6,
      sheenColor: new THREE.Color('#ffffff').multiplyScalar(0.35),
    });
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, this.uniforms);
      shader.vertexShader = shader.vertexShader
        .replace('#include <common>', '#include <common>\nattribute float value; varying float vValue; varying vec3 vBary; varying vec2 vCloth;')
        .replace('#include <begin_vertex>', `#include <begin_vertex>
          vValue = value; vCloth = uv; int corner = gl_VertexID % 3;
          vBary = vec3(corner == 0 ? 1.0 : 0.0, corner == 1 ? 1.0 : 0.0, corner == 2 ? 1.0 : 0.0);`);
      shader.fragmentShader = shader.fragmentShader
        .replace('#include <common>', `#include <common>
          uniform float wire, map, low, high; uniform vec3 wireColour;
          varying float vValue; varying vec3 vBary; varying vec2 vCloth;
          vec3 paletteAt(float t) {
            vec3 stop[5] = vec3[5](${stops()});
            float x = clamp(t, 0.0, 1.0) * 4.0; int i = int(min(floor(x), 3.0));
            return mix(stop[i], stop[i + 1], x - float(i));
          }`)
        .replace('#include <color_fragment>', `#include <color_fragment>
          vec2 yarn = vCloth / 0.004; vec2 w = fwidth(yarn);
          float weave = (sin(6.2832 * yarn.x) * sin(6.2832 * yarn.y)) * (1.0 - smoothstep(0.2, 0.6, max(w.x, w.y)));
          diffuseColor.rgb *= 1.0 + 0.10 * weave;
          if (!gl_FrontFacing) diffuseColor.rgb = mix(diffuseColor.rgb, vec3(0.85), 0.25);
          if (map > 0.5) diffuseColor.rgb = paletteAt((vValue - low) / (high - low));`)
        .replace('#include <dithering_fragment>', `#include <dithering_fragment>
          // what colours say must not drown in the shade
          if (map > 0.5) gl_FragColor.rgb = mix(gl_FragColor.rgb, pow(paletteAt((vValue - low) / (high - low)), vec3(1.0 / 2.2)), 0.4);
          if (wire > 0.5) {
            vec3 d = vBary / fwidth(vBary); float near = min(min(d.x, d.y), d.z);
            gl_FragColor.rgb = mix(wireColour, gl_FragColor.rgb, 0.5 + 0.5 * smoothstep(0.25, 1.0, near));
          }`);
    };
    return material;
  }

  private bodyMaterial(name: string): THREE.Material {
    const skin = /body|woman|man|human|character|figure/i.test(name);
    return new THREE.MeshStandardMaterial({ color: this.looks.get(name)?.color ?? (skin ? '#cdb09b' : '#c9c3ba'), roughness: 0.7, side: THREE.DoubleSide });
  }

  private put(parts: Map<string, Part>, shape: Shape, material: () => THREE.Material) {
    let part = parts.get(shape.name);
    const need = shape.faces * 3;
    if (!part || part.capacity < need) {
      const capacity = Math.ceil(need * 1.4) + 96;
      const buffer = new THREE.InterleavedBuffer(new Float32Array(capacity * CORNER), CORNER);
      buffer.setUsage(THREE.DynamicDrawUsage);
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute('position', new THREE.InterleavedBufferAttribute(buffer, 3, 0));
      geometry.setAttribute('normal', new THREE.InterleavedBufferAttribute(buffer, 3, 3));
      geometry.setAttribute('uv', new THREE.InterleavedBufferAttribute(buffer, 2, 6));
      geometry.setAttribute('value', new THREE.InterleavedBufferAttribute(buffer, 1, 8));
      if (part) {
        part.mesh.geometry.dispose();
        part.mesh.geometry = geometry;
        part.buffer = buffer;
        part.capacity = capacity;
      } else {
        const mesh = new THREE.Mesh(geometry, material());
        mesh.castShadow = mesh.receiveShadow = true;
        mesh.frustumCulled = false;
        this.scene.add(mesh);
        part = { mesh, buffer, capacity };
        parts.set(shape.name, part);
      }
    }
    (part.buffer.array as Float32Array).set(shape.corners);
    part.buffer.clearUpdateRanges();
    part.buffer.addUpdateRange(0, shape.corners.length);
    part.buffer.needsUpdate = true;
    part.mesh.geometry.setDrawRange(0, need);
    part.mesh.visible = shape.faces > 0;
  }

  clearCloths() {
    this.clear([this.cloths]);
  }

  clear(all = [this.cloths, this.bodies]) {
    for (const parts of all) {
      for (const part of parts.values()) {
        this.scene.remove(part.mesh);
        part.mesh.geometry.dispose();
        (part.mesh.material as THREE.Material).dispose();
      }
      parts.clear();
    }
  }

  update(cloths: Shape[], bodies: Shape[]) {
    cloths.forEach((s, i) => this.put(this.cloths, s, () => this.clothMaterial(s.name, i)));
    for (const s of bodies) {
      if (s.plane) {
        const up = Math.abs(s.corners[4]) > 0.99; // only level ground is drawn as ground
        if (up) this.ground.position.y = s.corners[1] - 0.001, (this.grid.position.y = s.corners[1] - 0.0005);
        continue;
      }
      this.put(this.bodies, s, () => this.bodyMaterial(s.name));
    }
  }

  /** Box around all cloth, and bodies on request. */
  bounds(withBodies: boolean): THREE.Box3 {
    const box = new THREE.Box3();
    const p = new THREE.Vector3();
    for (const parts of withBodies ? [this.cloths, this.bodies] : [this.cloths])
      for (const part of parts.values()) {
        const a = part.buffer.array;
        const n = part.mesh.geometry.drawRange.count;
        for (let i = 0; i < n; i++) box.expandByPoint(p.set(a[i * CORNER], a[i * CORNER + 1], a[i * CORNER + 2]));
      }
    return box;
  }

  /** Camera so that everything is in view, from the scene's direction (degrees). */
  frame(azimuth = 30, elevation = 15) {
    const box = this.bounds(true);
    if (box.isEmpty()) return;
    const centre = box.getCenter(new THREE.Vector3());
    const radius = Math.max(box.getSize(new THREE.Vector3()).length() / 2, 0.1);
    const a = (azimuth * Math.PI) / 180;
    const e = (elevation * Math.PI) / 180;
    const half = (this.camera.fov * Math.PI) / 360;
    const distance = (radius / Math.sin(half)) * (this.camera.aspect < 1 ? 1.05 / this.camera.aspect : 1.02);
    centre.y -= 0.05 * radius; // room for what stands at the foot of the picture
    this.controls.target.copy(centre);
    this.camera.position.set(Math.sin(a) * Math.cos(e), Math.sin(e), Math.cos(a) * Math.cos(e)).multiplyScalar(distance).add(centre);
    // the broad light stands to the left of the camera, wherever that begins
    const shine = (light: THREE.DirectionalLight, way: THREE.Vector3) => {
      light.position.copy(centre).addScaledVector(way, radius * 4);
      light.target.position.copy(centre);
      const shadow = light.shadow.camera;
      shadow.left = shadow.bottom = -radius * 1.6;
      shadow.right = shadow.top = radius * 1.6;
      shadow.near = 0.1 * radius;
      shadow.far = radius * 9;
      shadow.updateProjectionMatrix();
    };
    SUNS.forEach(([turn, high], i) => shine(this.suns[i], new THREE.Vector3(Math.sin(a - 0.75 + turn) * Math.cos(high), Math.sin(high), Math.cos(a - 0.75 + turn) * Math.cos(high))));
    shine(this.sky, new THREE.Vector3(0.02, 1, 0.02).normalize());
    if (this.bodies.size === 0 || box.min.y < this.ground.position.y) {
      this.ground.position.y = Math.min(0, box.min.y - 0.02);
      this.grid.position.y = this.ground.position.y + 0.0005;
    }
    this.controls.update();
    this.draw();
  }

  private resize() {
    const host = this.canvas.parentElement!;
    const width = Math.max(1, host.clientWidth);
    const height = Math.max(1, host.clientHeight);
    this.renderer.setPixelRatio(this.plain ? 1 : Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  /** Whether the graphics processor is still at the last picture: another one would only wait in line. */
  get busy(): boolean {
    const gl = this.renderer.getContext() as WebGL2RenderingContext;
    if (!this.drawing) return false;
    const state = gl.clientWaitSync(this.drawing, 0, 0);
    if (state === gl.TIMEOUT_EXPIRED) return true;
    gl.deleteSync(this.drawing);
    this.drawing = null;
    this.slow = performance.now() - this.began > SLOW ? this.slow + 1 : 0;
    if (this.slow >= 4 && !this.plain) this.useLessLight();
    return false;
  }

  // One lamp with a shadow instead of four: for machines that draw without a graphics processor.
  private useLessLight() {
    this.plain = true;
    const [first, ...others] = this.suns;
    first.intensity = 2.7;
    for (const light of others) light.visible = light.castShadow = false;
    this.sky.castShadow = false;
    this.resize();
  }

  draw() {
    this.began = performance.now();
    const gl = this.renderer.getContext() as WebGL2RenderingContext;
    this.renderer.render(this.scene, this.camera);
    if (this.drawing) gl.deleteSync(this.drawing);
    this.drawing = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    this.drawn++;
  }

  ray(x: number, y: number): THREE.Ray {
    const r = this.canvas.getBoundingClientRect();
    this.caster.setFromCamera(new THREE.Vector2(((x - r.left) / r.width) * 2 - 1, 1 - ((y - r.top) / r.height) * 2), this.camera);
    return this.caster.ray;
  }

  /** What is under the pointer: the nearest point of cloth or body. */
  pick(x: number, y: number): { point: THREE.Vector3; cloth: boolean; name: string } | null {
    this.ray(x, y);
    const ray = this.caster.ray;
    let best: { point: THREE.Vector3; cloth: boolean; name: string } | null = null;
    let nearest = Infinity;
    const [a, b, c, hit] = [0, 1, 2, 3].map(() => new THREE.Vector3());
    for (const [parts, cloth] of [[this.cloths, true], [this.bodies, false]] as const)
      for (const [name, part] of parts) {
        const v = part.buffer.array;
        const n = part.mesh.geometry.drawRange.count;
        for (let i = 0; i + 2 < n; i += 3) {
          const k = i * CORNER;
          a.set(v[k], v[k + 1], v[k + 2]);
          b.set(v[k + 9], v[k + 10], v[k + 11]);
          c.set(v[k + 18], v[k + 19], v[k + 20]);
          if (!ray.intersectTriangle(a, b, c, false, hit)) continue;
          const d = hit.distanceToSquared(ray.origin);
          if (d < nearest) (nearest = d), (best = { point: hit.clone(), cloth, name });
        }
      }
    return best;
  }

  /** Where the pointer's ray meets the plane through `point` that faces the camera. */
  across(x: number, y: number, point: THREE.Vector3): THREE.Vector3 | null {
    const normal = this.camera.getWorldDirection(new THREE.Vector3());
    return this.ray(x, y).intersectPlane(new THREE.Plane().setFromNormalAndCoplanarPoint(normal, point), new THREE.Vector3());
  }

  project(point: THREE.Vector3): { x: number; y: number } {
    const r = this.canvas.getBoundingClientRect();
    const p = point.clone().project(this.camera);
    return { x: r.left + ((p.x + 1) / 2) * r.width, y: r.top + ((1 - p.y) / 2) * r.height };
  }
}
