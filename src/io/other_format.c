// io/other_format.c: names the files that are given as OBJ but are something else.

#include "io/other_format.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

typedef struct format {
    const char *start;  ///< first bytes
    size_t size;
    const char *name;
} format;

static const format by_content[] = {
    {"glTF", 4, "a glTF file (GLB)"},
    {"ply\n", 4, "a PLY file"},
    {"ply\r", 4, "a PLY file"},
    {"Kaydara FBX Binary", 18, "an FBX file"},
    {"; FBX", 5, "an FBX file"},
    {"Ogawa", 5, "an Alembic file"},
    {"\x89HDF", 4, "an Alembic file"},
    {"PXR-USDC", 8, "a USD file"},
    {"#usda", 5, "a USD file"},
    {"BLENDER", 7, "a Blender file"},
    {"POINTCACHE2", 11, "a point cache (PC2)"},
    {"HIERARCHY", 9, "a motion file (BVH)"},
    {"PK\x03\x04", 4, "a ZIP archive"},
    {"\x1f\x8b", 2, "a compressed file (gzip)"},
    {"\x28\xb5\x2f\xfd", 4, "a compressed file (zstd, or a Blender file)"},
    {"\x89PNG", 4, "a picture (PNG)"},
    {"%PDF", 4, "a PDF file"},
    {"<?xml", 5, "an XML file (COLLADA or SVG?)"},
};

static const struct {
    const char *ending, *name;
} by_ending[] = {
    {".glb", "a glTF file (GLB)"},   {".gltf", "a glTF file"},        {".stl", "an STL file"},
    {".ply", "a PLY file"},          {".fbx", "an FBX file"},         {".abc", "an Alembic file"},
    {".usd", "a USD file"},          {".usda", "a USD file"},         {".usdc", "a USD file"},
    {".usdz", "a USD file"},         {".blend", "a Blender file"},    {".dae", "a COLLADA file"},
    {".3ds", "a 3DS file"},          {".off", "an OFF file"},         {".pc2", "a point cache (PC2)"},
    {".mdd", "a point cache (MDD)"}, {".bvh", "a motion file (BVH)"},
};

// An STL file in binary: 80 bytes of anything, a count, 50 bytes per face. In text it starts with "solid".
static int is_stl(const char *data, size_t size)
{
    if (size >= 84) {
        uint32_t count = 0;
        for (int i = 3; i >= 0; i--) count = count << 8 | (unsigned char)data[80 + i];
        if (count > 0 && size == 84 + 50 * (size_t)count && memchr(data, 0, 84)) return 1;
    }
    return size >= 6 && memcmp(data, "solid ", 6) == 0;
}

const char *tl_other_format(const char *path, const char *data, size_t size)
{
    enum { LOOKED_AT = 1024 };  // bytes; text has no zero among them
    for (size_t i = 0; i < sizeof by_content / sizeof *by_content; i++)
        if (size >= by_content[i].size && memcmp(data, by_content[i].start, by_content[i].size) == 0)
            return by_content[i].name;
    if (is_stl(data, size)) return "an STL file";
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof by_ending / sizeof *by_ending; i++) {
        const size_t n = strlen(by_ending[i].ending);
        if (length >= n && strcasecmp(path + length - n, by_ending[i].ending) == 0) return by_ending[i].name;
    }
    if (size > 0 && memchr(data, 0, size < LOOKED_AT ? size : LOOKED_AT))
        return "a binary file of a kind not known here";
    return NULL;
}
