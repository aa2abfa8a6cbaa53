// viewer/shaders.h: the programs that run on the graphics processor (GLSL 3.30).
//
// Light as in `toile render`: a key light with a soft shadow, light from the sky and from the floor, two-sided cloth
// with a woven pattern in material coordinates, a little gloss and sheen. Colours are linear, the last line makes sRGB.
#pragma once

#define SHADE_COMMON                                                                                                   \
    "uniform sampler2DShadow shadow; uniform sampler2D depths; uniform mat4 light; uniform vec3 sun; uniform vec3 "    \
    "eye;\n"                                                                                                           \
    "const vec2 disk[16] = vec2[](vec2(-0.94, -0.40), vec2(0.95, -0.77), vec2(-0.09, -0.93), vec2(0.34, 0.29),\n"      \
    "  vec2(-0.92, 0.46), vec2(-0.82, -0.88), vec2(-0.38, 0.28), vec2(0.97, 0.76), vec2(0.44, -0.98), vec2(0.54, "     \
    "-0.47),\n"                                                                                                        \
    "  vec2(-0.26, -0.42), vec2(0.79, 0.19), vec2(-0.24, 1.00), vec2(-0.81, 0.91), vec2(0.20, 0.79), vec2(0.14, "      \
    "-0.14));\n"                                                                                                       \
    "float lit(vec3 p, vec3 n) {\n" /* the further what shades is away, the softer its edge: the sun is broad */       \
    "  vec4 q = light * vec4(p + 0.004 * n, 1.0); vec3 s = q.xyz * 0.5 + 0.5; s.z -= 0.0008;\n"                        \
    "  if (any(lessThan(s.xy, vec2(0.0))) || any(greaterThan(s.xy, vec2(1.0)))) return 1.0;\n"                         \
    "  float a = 6.2832 * fract(52.9829 * fract(dot(gl_FragCoord.xy, vec2(0.06711, 0.00584)))), far = 0.0, count = "   \
    "0.0;\n"                                                                                                           \
    "  mat2 turn = mat2(cos(a), sin(a), -sin(a), cos(a));\n"                                                           \
    "  for (int i = 0; i < 16; i += 2) { float z = texture(depths, s.xy + 0.02 * (turn * disk[i])).r;\n"               \
    "    if (z < s.z - 0.001) far += s.z - z, count += 1.0; }\n"                                                       \
    "  float wide = clamp(count > 0.0 ? 0.25 * far / count : 0.0, 1.5 / float(textureSize(shadow, 0).x), 0.03), sum "  \
    "= 0.0;\n"                                                                                                         \
    "  for (int i = 0; i < 16; i++) sum += texture(shadow, vec3(s.xy + wide * (turn * disk[i]), s.z - 0.3 * wide));\n" \
    "  return sum / 16.0; }\n"                                                                                         \
    "vec3 srgb(vec3 c) { c = c / (1.0 + 0.15 * c); return mix(12.92 * c, 1.055 * pow(max(c, vec3(0.0)),\n"             \
    "  vec3(1.0 / 2.4)) - 0.055, step(vec3(0.0031308), c)); }\n"

static const char MESH_VERTEX[] =
    "#version 330 core\n"
    "layout(location=0) in vec3 a_pos; layout(location=1) in vec3 a_normal; layout(location=2) in vec2 a_uv;\n"
    "layout(location=3) in vec3 a_colour;\n"
    "uniform mat4 camera; out vec3 pos, normal, colour, bary; out vec2 uv;\n"
    "void main() { pos = a_pos; normal = a_normal; uv = a_uv; colour = a_colour;\n"
    "  int k = gl_VertexID % 3; bary = vec3(k == 0, k == 1, k == 2);\n"
    "  gl_Position = camera * vec4(a_pos, 1.0); }\n";

static const char MESH_FRAGMENT[] =
    "#version 330 core\n"
    "in vec3 pos, normal, colour, bary; in vec2 uv; out vec4 o;\n"
    "uniform vec3 back; uniform bool two_sided, mapped, wire; uniform float gloss, roughness, sheen, weave, yarn;\n"
    "uniform int weave_kind;\n" SHADE_COMMON "float woven() {\n"  // over and under: brightness of a yarn's round back
    "  if (weave <= 0.0 || yarn <= 0.0) return 1.0;\n"
    "  vec2 w = uv / yarn; float fade = clamp(1.2 - 2.0 * max(length(dFdx(w)), length(dFdy(w))), 0.0, 1.0);\n"
    "  vec2 cell = floor(w), f = fract(w) - 0.5; int over;\n"
    "  if (weave_kind == 1) over = int(mod(cell.x + cell.y, 4.0)) < 2 ? 1 : 0;\n"
    "  else if (weave_kind == 2) over = int(mod(cell.x * 2.0 + cell.y, 5.0)) == 0 ? 0 : 1;\n"
    "  else over = int(mod(cell.x + cell.y, 2.0));\n"
    "  float across = over == 1 ? f.x : f.y, along = over == 1 ? f.y : f.x;\n"
    "  float b = (1.0 - 1.6 * across * across) * (1.0 - 0.7 * along * along);\n"
    "  return mix(1.0, 0.55 + 0.6 * b, fade * weave); }\n"
    "void main() {\n"
    "  vec3 flat_n = normalize(cross(dFdx(pos), dFdy(pos))), v = normalize(eye - pos);\n"
    "  if (dot(flat_n, v) < 0.0) flat_n = -flat_n;\n"
    "  vec3 n = length(normal) > 0.0 ? normalize(normal) : flat_n; bool behind = dot(n, flat_n) < 0.0;\n"
    "  if (behind) n = -n;\n"
    "  vec3 base = two_sided && behind && !mapped ? back : colour;\n"
    "  if (!mapped) base *= woven();\n"
    "  float d = max(dot(n, sun), 0.0), s = d > 0.0 ? lit(pos, n) : 0.0, up = 0.5 + 0.5 * n.y;\n"
    "  vec3 light_in = (mapped ? 0.62 : 1.45) * d * s * vec3(1.0, 0.97, 0.92)\n"
    "    + (mapped ? 1.15 : 0.85) * mix(vec3(0.26, 0.24, 0.22), vec3(0.52, 0.55, 0.60), up);\n"
    "  float edge = pow(1.0 - max(dot(n, v), 0.0), 3.0);\n"
    "  vec3 h = normalize(sun + v); float power = 2.0 / max(roughness * roughness, 0.003);\n"
    "  vec3 c = base * light_in + (mapped ? vec3(0.0) : sheen * edge * base * light_in\n"
    "    + gloss * s * vec3(0.25 * pow(max(dot(n, h), 0.0), power) * (power + 2.0) / 8.0));\n"
    "  if (wire) { vec3 w = fwidth(bary), a = smoothstep(vec3(0.0), 1.3 * w, bary);\n"
    "    c = mix(0.25 * c, c, min(a.x, min(a.y, a.z))); }\n"
    "  o = vec4(srgb(c), 1.0); }\n";

static const char FLOOR_VERTEX[] = "#version 330 core\n"
                                   "layout(location=0) in vec3 a_pos; uniform mat4 camera; out vec3 pos;\n"
                                   "void main() { pos = a_pos; gl_Position = camera * vec4(a_pos, 1.0); }\n";

static const char FLOOR_FRAGMENT[] =
    "#version 330 core\n"
    "in vec3 pos; out vec4 o; uniform vec3 centre, paper; uniform float radius;\n" SHADE_COMMON
    "void main() { float r = length(pos.xz - centre.xz) / radius, fade = smoothstep(1.5, 6.0, r);\n"
    "  float s = mix(lit(pos, vec3(0.0, 1.0, 0.0)), 1.0, smoothstep(1.0, 2.5, r));\n"
    "  vec3 ground = vec3(0.60, 0.59, 0.575) * (0.62 + 0.38 * s);\n"
    "  o = vec4(srgb(mix(ground, paper, fade)), 1.0); }\n";

static const char DEPTH_VERTEX[] = "#version 330 core\n"
                                   "layout(location=0) in vec3 a_pos; uniform mat4 camera;\n"
                                   "void main() { gl_Position = camera * vec4(a_pos, 1.0); }\n";
static const char DEPTH_FRAGMENT[] = "#version 330 core\nvoid main() {}\n";

static const char FLAT_VERTEX[] =
    "#version 330 core\n"
    "layout(location=0) in vec2 a_pos; layout(location=1) in vec4 a_colour; uniform vec2 size; out vec4 colour;\n"
    "void main() { colour = a_colour; gl_Position = vec4(2.0 * a_pos / size - 1.0, 0.0, 1.0) * vec4(1, -1, 1, 1); }\n";
static const char FLAT_FRAGMENT[] = "#version 330 core\nin vec4 colour; out vec4 o; void main() { o = colour; }\n";
