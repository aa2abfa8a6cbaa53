// io/dxf.h: DXF as drawings of pieces need it: R10 to R14 in text form, lines, polylines, arcs, circles, points, texts.
//
// A file is pairs of lines: a group code and a value. What belongs to one entity is gathered before it is looked at.
#pragma once
#include "base/alloc.h"
#include "io/text.h"
#include "toile/pattern.h"

typedef struct tl_dxf {
    const char *path, *at, *end;
    int64_t line;  ///< of the value at hand
    int32_t code;
    const char *value;  ///< without blanks at its ends, no final zero
    size_t size;
    bool done;
    tl_buf *comments;  ///< takes lines of comments (code 999) that start with TOILE, without that word; NULL: none
} tl_dxf;

void tl_dxf_init(tl_dxf *dxf, const char *path, const char *text, size_t size);
tl_status tl_dxf_next(tl_dxf *dxf, tl_error *err);  ///< the next pair; `done` at the end
bool tl_dxf_is(const tl_dxf *dxf, const char *text);
tl_status tl_dxf_real(const tl_dxf *dxf, double *out, tl_error *err);
tl_status tl_dxf_int(const tl_dxf *dxf, int32_t *out, tl_error *err);
tl_status tl_dxf_fail(const tl_dxf *dxf, tl_error *err, const char *what);

typedef enum tl_dxf_kind {
    TL_DXF_OTHER,
    TL_DXF_PATH,  ///< LINE, POLYLINE, LWPOLYLINE, ARC, CIRCLE
    TL_DXF_POINT,
    TL_DXF_TEXT,
    TL_DXF_INSERT,
} tl_dxf_kind;

/// One entity, in the file's units.
typedef struct tl_dxf_entity {
    tl_dxf_kind kind;
    char name[32], layer[64], text[256];  ///< name: LINE, ..; text: of texts, and the block of an insert
    tl_vec2 at, to;                       ///< of points and inserts; of LINEs their ends
    tl_vec2 scale;                        ///< of inserts
    double radius, angle[2], depth, turn_deg;
    bool closed;
    int64_t line;
    tl_segment *pieces;  ///< of paths; kept from one entity to the next
    int32_t count, cap;
} tl_dxf_entity;

/// Reads the entity whose name is the pair at hand (code 0), up to the next code 0 behind it.
tl_status tl_dxf_entity_read(tl_dxf *dxf, const tl_allocator *alloc, tl_dxf_entity *out, tl_error *err);
