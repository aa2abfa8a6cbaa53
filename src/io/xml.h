// io/xml.h: a small reader of XML, as much as drawings need: elements, attributes, entities, comments, CDATA.
//
// Ours rather than a library: drawings need no namespaces, DTDs or encodings but UTF-8, the text stays in memory and is
// not copied, entities of documents (the billion laughs) do not exist here, and the web build links nothing more.
// Elements come in document order; nothing is kept of them but their nesting.
#pragma once
#include "io/text.h"

typedef enum tl_xml_kind { TL_XML_END_OF_FILE, TL_XML_OPEN, TL_XML_CLOSE } tl_xml_kind;

enum { TL_XML_MAX_ATTRIBUTES = 64, TL_XML_MAX_DEPTH = 256 };

/// Bytes of the file, without a final zero.
typedef struct tl_slice {
    const char *text;
    size_t size;
} tl_slice;

typedef struct tl_xml {
    const char *path, *text, *at, *end;  ///< path: for messages
    tl_slice name;                       ///< of the element that opened or closed
    tl_slice key[TL_XML_MAX_ATTRIBUTES], value[TL_XML_MAX_ATTRIBUTES];
    int32_t attribute_count;
    tl_slice open[TL_XML_MAX_DEPTH];  ///< names of the elements around `at`
    int32_t depth;
    const char *counted;  ///< lines are counted up to here
    int64_t line;
    bool empty;  ///< the element was <x/>: its close comes next
} tl_xml;

void tl_xml_init(tl_xml *xml, const char *path, const char *text, size_t size);

/// The next opening or closing tag. TL_BAD_INPUT "file:line: what".
tl_status tl_xml_next(tl_xml *xml, tl_xml_kind *kind, tl_error *err);

/// An attribute of the element that has just opened as it stands in the file; text NULL: there is none.
tl_slice tl_xml_value(const tl_xml *xml, const char *key);

/// The same with entities resolved, cut to size - 1 bytes. False: there is none, `out` is "".
bool tl_xml_text(const tl_xml *xml, const char *key, char *out, size_t size);

bool tl_slice_is(tl_slice slice, const char *text);
int64_t tl_xml_line(const tl_xml *xml);  ///< of the reader's place
