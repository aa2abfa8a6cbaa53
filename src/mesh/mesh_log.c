// mesh/mesh_log.c: records of edits, and taking them back.
//
// Before an edit changes anything it writes down the rows (all columns of one element) that it is going to
// change, dead slots it will reuse included, and the heads of the slot lists. Undo copies them back. Rows are
// written before the first change, so within one record their order does not matter and doubles do no harm.

#include "base/alloc.h"
#include "mesh/mesh_internal.h"

typedef struct slot_heads {
    int32_t count, live, free_top;
} slot_heads;

typedef struct record {
    tl_edit edit;
    int32_t word_begin;  // its rows run to the next record's word_begin
    slot_heads heads[TL_DOMAIN_COUNT];
} record;

struct tl_edit_log {
    record *records;
    int32_t record_count, record_cap;
    uint64_t *words;  // rows: one word (domain, id), then the columns, padded
    int32_t word_count, word_cap;
};

tl_status tl_mesh_record(tl_mesh *mesh, tl_error *err)
{
    if (mesh->log) return TL_OK;
    mesh->log = TL_CALLOC(&mesh->alloc, tl_edit_log, 1);
    return mesh->log ? TL_OK : tl_fail_memory(err, "the edit log");
}

void tl_mesh_record_stop(tl_mesh *mesh)
{
    tl_edit_log *log = mesh->log;
    if (!log) return;
    TL_FREE(&mesh->alloc, log->records, log->record_cap);
    TL_FREE(&mesh->alloc, log->words, log->word_cap);
    TL_FREE(&mesh->alloc, mesh->log, 1);
}

void tl_mesh_record_clear(tl_mesh *mesh)
{
    if (mesh->log) mesh->log->record_count = mesh->log->word_count = 0;
}

bool tl_record_empty(const tl_mesh *mesh) { return !mesh->log || mesh->log->record_count == 0; }

int32_t tl_mesh_mark(const tl_mesh *mesh) { return mesh->log ? mesh->log->record_count : 0; }

tl_edit tl_mesh_edit_at(const tl_mesh *mesh, int32_t index)
{
    TL_ASSERT(index >= 0 && index < tl_mesh_mark(mesh), "an edit was asked for that is not recorded");
    return mesh->log->records[index].edit;
}

// ---- writing ----------------------------------------------------------------------------------------------

static int32_t row_words(const tl_mesh *mesh, tl_domain d)
{
    size_t bytes = 0;
    for (int32_t c = 0; c < tl_column_count(mesh, d); c++) bytes += tl_column_at(mesh, d, c).size;
    return (int32_t)(1 + (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
}

tl_status tl_record_open(tl_mesh *mesh, tl_edit edit, tl_error *err)
{
    tl_edit_log *log = mesh->log;
    if (!log) return TL_OK;
    if (!TL_GROW(&mesh->alloc, log->records, log->record_cap, (int64_t)log->record_count + 1))
        return tl_fail_memory(err, "a record of the edit log");
    record *r = &log->records[log->record_count++];
    *r = (record){.edit = edit, .word_begin = log->word_count};
    for (int d = 0; d < TL_DOMAIN_COUNT; d++) {
        const tl_slots *s = &mesh->slots[d];
        r->heads[d] = (slot_heads){s->count, s->live, s->free_top};
    }
    return TL_OK;
}

tl_status tl_record_row(tl_mesh *mesh, tl_domain d, int32_t id, tl_error *err)
{
    tl_edit_log *log = mesh->log;
    if (!log || id == TL_NONE) return TL_OK;
    const int32_t words = row_words(mesh, d);
    if (!TL_GROW(&mesh->alloc, log->words, log->word_cap, (int64_t)log->word_count + words))
        return tl_fail_memory(err, "the rows of the edit log");
    uint64_t *row = log->words + log->word_count;
    log->word_count += words;
    row[words - 1] = 0;  // no stray bytes in the padding
    row[0] = (uint64_t)d << 32 | (uint32_t)id;
    char *to = (char *)(row + 1);
    for (int32_t c = 0; c < tl_column_count(mesh, d); c++) {
        const tl_column column = tl_column_at(mesh, d, c);
        memcpy(to, (const char *)tl_column_data(mesh, column) + (size_t)id * column.size, column.size);
        to += column.size;
    }
    return TL_OK;
}

tl_status tl_record_taken(tl_mesh *mesh, tl_domain d, int32_t extra, tl_error *err)
{
    for (int32_t i = 0; mesh->log && i < extra; i++) {
        const int32_t id = tl_slot_peek(mesh, d, i);
        if (id < mesh->slots[d].count) TL_TRY(tl_record_row(mesh, d, id, err));  // new slots have no past
    }
    return TL_OK;
}

void tl_record_finish(tl_mesh *mesh, tl_edit edit)
{
    if (mesh->log) mesh->log->records[mesh->log->record_count - 1].edit = edit;
}

tl_status tl_mesh_touch(tl_mesh *mesh, tl_domain domain, int32_t id, tl_error *err)
{
    if (!mesh->log) return TL_OK;
    if (id < 0 || id >= mesh->slots[domain].count || !tl_alive(mesh, domain, id))
        return tl_fail(err, TL_BAD_ARG, "touch: %s %d is not alive", tl_domain_name(domain), id);
    TL_TRY(tl_record_open(mesh, (tl_edit){TL_EDIT_TOUCH, TL_NONE, TL_NONE, TL_NONE}, err));
    const tl_status status = tl_record_row(mesh, domain, id, err);
    if (status != TL_OK) tl_record_drop(mesh);
    return status;
}

// ---- taking back ------------------------------------------------------------------------------------------

void tl_record_drop(tl_mesh *mesh)
{
    tl_edit_log *log = mesh->log;
    if (!log) return;
    log->word_count = log->records[--log->record_count].word_begin;
}

static void restore(tl_mesh *mesh, const record *r, int32_t word_end)
{
    const uint64_t *row = mesh->log->words + r->word_begin, *end = mesh->log->words + word_end;
    while (row < end) {
        const tl_domain d = (tl_domain)(row[0] >> 32);
        const size_t id = (uint32_t)row[0];
        const char *from = (const char *)(row + 1);
        for (int32_t c = 0; c < tl_column_count(mesh, d); c++) {
            const tl_column column = tl_column_at(mesh, d, c);
            memcpy((char *)tl_column_data(mesh, column) + id * column.size, from, column.size);
            from += column.size;
        }
        row += row_words(mesh, d);
    }
    for (int d = 0; d < TL_DOMAIN_COUNT; d++) {
        tl_slots *s = &mesh->slots[d];
        s->count = r->heads[d].count;
        s->live = r->heads[d].live;
        s->free_top = r->heads[d].free_top;
    }
}

void tl_mesh_undo_to(tl_mesh *mesh, int32_t mark)
{
    tl_edit_log *log = mesh->log;
    TL_ASSERT(mark >= 0 && mark <= tl_mesh_mark(mesh), "undo to a mark that lies ahead");
    while (log && log->record_count > mark) {
        restore(mesh, &log->records[log->record_count - 1], log->word_count);
        tl_record_drop(mesh);
    }
}
