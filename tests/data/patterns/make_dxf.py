#!/usr/bin/env python3
# tests/data/patterns/make_dxf.py: writes the DXF samples with ezdxf (Debian: python3-ezdxf 0.18). Run once in this folder.
#   aama_r12.dxf   two blocks, inches ("Units: ENGLISH"), one closed polyline each with turn and curve points, notches, grain
#   sewline_r12.dxf  one block, millimetres, lines and arcs one by one on layer 14, cut line on layer 1, cutout, drill hole
#   plain_r2000.dxf  no blocks, LWPOLYLINE with a bulge and a CIRCLE on layer 0, $INSUNITS centimetres
import math
import ezdxf

doc = ezdxf.new("R12")
msp = doc.modelspace()


def text(to, words, layer="1"):
    to.add_text(words, dxfattribs={"layer": layer, "height": 0.2})


b = doc.blocks.new("FRONT_BLOCK")
# 10 x 16 inches, the top right corner cut off by a quarter circle of radius 4 in 16 chords
arc = [(10 - 4 * math.sin(math.pi / 2 * i / 16), 12 + 4 * (1 - math.cos(math.pi / 2 * i / 16))) for i in range(17)]
outline = [(0, 0), (10, 0)] + arc + [(0, 16)]
b.add_polyline2d(outline + [outline[0]], dxfattribs={"layer": "1"})
for p in [(0, 0), (10, 0), arc[0], arc[-1], (0, 16)]:
    b.add_point(p, dxfattribs={"layer": "2"})
for p in arc[1:-1]:
    b.add_point(p, dxfattribs={"layer": "3"})
b.add_point((5, 0), dxfattribs={"layer": "4", "thickness": 0.25})
b.add_point((10, 3), dxfattribs={"layer": "4"})
b.add_line((5, 2), (5, 12), dxfattribs={"layer": "7"})
b.add_line((1, 8), (9, 8), dxfattribs={"layer": "8"})
text(b, "Piece Name: FRONT")
text(b, "Quantity: 2")
s = doc.blocks.new("SLEEVE_BLOCK")
s.add_polyline2d([(0, 0), (8, 0), (7, 9), (1, 9)], dxfattribs={"layer": "1"}).close(True)
text(s, "Piece Name: SLEEVE")
for name in ("FRONT_BLOCK", "SLEEVE_BLOCK"):
    msp.add_blockref(name, (0, 0), dxfattribs={"layer": "1"})
text(msp, "Units: ENGLISH")
text(msp, "Style Name: SAMPLE")
doc.saveas("aama_r12.dxf")

doc = ezdxf.new("R12")
msp = doc.modelspace()
b = doc.blocks.new("POCKET")
# a pocket 120 x 150 mm with a half round lower end of radius 60: lines and an arc, not in order, one against the way
b.add_line((0, 0), (0, 90), dxfattribs={"layer": "14"})
b.add_arc((60, 0), 60, 180, 360, dxfattribs={"layer": "14"})
b.add_line((120, 90), (120, 0), dxfattribs={"layer": "14"})
b.add_line((0, 90), (120, 90), dxfattribs={"layer": "14"})
b.add_polyline2d([(-10, 0, 0), (-10, 100, 0), (130, 100, 0), (130, 0, -1)], format="xyb", dxfattribs={"layer": "1"}).close(True)
b.add_circle((60, 30), 10, dxfattribs={"layer": "11"})
b.add_point((60, 60), dxfattribs={"layer": "13"})
text(b, "Piece Name: pocket")
msp.add_blockref("POCKET", (0, 0))
text(msp, "UNITS: METRIC")
doc.saveas("sewline_r12.dxf")

doc = ezdxf.new("R2000")
doc.header["$INSUNITS"] = 5
msp = doc.modelspace()
msp.add_lwpolyline([(0, 0, 0), (20, 0, 1), (20, 10, 0), (0, 10, 0)], format="xyb", close=True)
msp.add_circle((50, 5), 5)
doc.saveas("plain_r2000.dxf")
