// mesh/mesh_attr.c: the list of attributes of each domain, and their rules.

#include "mesh/mesh_attr.h"

#include "base/alloc.h"
#include "mesh/mesh_internal.h"

enum { MAX_WIDTH = 64 };

static size_t element_size(const tl_attr *attr)
{
    return (size_t)attr->width * (attr->type == TL_DOUBLE ? sizeof(double) : sizeof(int32_t));
}

int32_t tl_mesh_attr_find(const tl_mesh *mesh, tl_domain domain, const char *name)
{
    const tl_slots *s = &mesh->slots[domain];
    for (int32_t i = 0; i < s->attr_count; i++)
        if (strcmp(s->attrs[i].name, name) == 0) return i;
    return TL_NONE;
}

tl_status tl_mesh_attr_add(tl_mesh *mesh, tl_domain domain, const char *name, tl_attr_type type, int32_t width,
                           tl_attr_rule rule, int32_t *out_index, tl_error *err)
{
    *out_index = TL_NONE;
    tl_slots *s = &mesh->slots[domain];
    tl_attr attr = {.type = type, .width = width, .rule = rule};
    const size_t length = name ? strlen(name) : 0;
    if (length < 1 || length >= sizeof attr.name)
        return tl_fail(err, TL_BAD_ARG, "attribute name \"%s\" has %zu bytes, must be 1 to %zu", name ? name : "",
                       length, sizeof attr.name - 1);
    if (width < 1 || width > MAX_WIDTH)
        return tl_fail(err, TL_BAD_ARG, "attribute %s: width %d, must be 1 to %d", name, width, MAX_WIDTH);
    if (type != TL_DOUBLE && (rule == TL_ATTR_MEAN || rule == TL_ATTR_CONSERVE))
        return tl_fail(err, TL_BAD_ARG, "attribute %s: rules mean and conserve need doubles", name);
    if (type != TL_INT32 && rule == TL_ATTR_BOTH)
        return tl_fail(err, TL_BAD_ARG, "attribute %s: rule both needs ints", name);
    if (tl_mesh_attr_find(mesh, domain, name) != TL_NONE)
        return tl_fail(err, TL_BAD_ARG, "attribute %s: %s domain has one of that name", name, tl_domain_name(domain));
    if (s->attr_count == TL_MAX_ATTRS)
        return tl_fail(err, TL_BAD_ARG, "attribute %s: %s domain has %d already", name, tl_domain_name(domain),
                       TL_MAX_ATTRS);
    if (!tl_record_empty(mesh))
        return tl_fail(err, TL_BAD_ARG, "attribute %s: %d edits are recorded, clear them first", name,
                       tl_mesh_mark(mesh));
    memcpy(attr.name, name, length);
    attr.data = tl_calloc_bytes(&mesh->alloc, (size_t)s->capacity, element_size(&attr));
    if (!attr.data) return tl_fail_memory(err, "an attribute");
    *out_index = s->attr_count;
    s->attrs[s->attr_count++] = attr;
    return TL_OK;
}

tl_status tl_mesh_attr_remove(tl_mesh *mesh, tl_domain domain, int32_t index, tl_error *err)
{
    tl_slots *s = &mesh->slots[domain];
    if (index < 0 || index >= s->attr_count)
        return tl_fail(err, TL_BAD_ARG, "attribute %d of %d in the %s domain", index, s->attr_count,
                       tl_domain_name(domain));
    if (!tl_record_empty(mesh))
        return tl_fail(err, TL_BAD_ARG, "attribute %s: %d edits are recorded, clear them first", s->attrs[index].name,
                       tl_mesh_mark(mesh));
    tl_free_bytes(&mesh->alloc, s->attrs[index].data, (size_t)s->capacity, element_size(&s->attrs[index]));
    s->attr_count--;
    for (int32_t i = index; i < s->attr_count; i++) s->attrs[i] = s->attrs[i + 1];
    s->attrs[s->attr_count] = (tl_attr){0};
    return TL_OK;
}

double *tl_mesh_attr_doubles(const tl_mesh *mesh, tl_domain domain, int32_t index)
{
    if (index < 0 || index >= mesh->slots[domain].attr_count) return NULL;
    const tl_attr *attr = &mesh->slots[domain].attrs[index];
    return attr->type == TL_DOUBLE ? attr->data : NULL;
}

int32_t *tl_mesh_attr_ints(const tl_mesh *mesh, tl_domain domain, int32_t index)
{
    if (index < 0 || index >= mesh->slots[domain].attr_count) return NULL;
    const tl_attr *attr = &mesh->slots[domain].attrs[index];
    return attr->type == TL_INT32 ? attr->data : NULL;
}

// ---- rules ------------------------------------------------------------------------------------------------

static char *element(const tl_attr *attr, int32_t id) { return (char *)attr->data + (size_t)id * element_size(attr); }
static double *doubles(const tl_attr *attr, int32_t id)
{
    return (double *)attr->data + (size_t)id * (size_t)attr->width;
}

static int32_t *ints(const tl_attr *attr, int32_t id)
{
    return (int32_t *)attr->data + (size_t)id * (size_t)attr->width;
}

bool tl_attrs_conserve(const tl_mesh *mesh, tl_domain d)
{
    for (int32_t i = 0; i < mesh->slots[d].attr_count; i++)
        if (mesh->slots[d].attrs[i].rule == TL_ATTR_CONSERVE) return true;
    return false;
}

// New elements come with zeroed columns, so rules that start at zero have nothing to do.

void tl_attrs_between(tl_mesh *mesh, tl_domain d, int32_t a, int32_t b, double t, int32_t made)
{
    for (int32_t i = 0; i < mesh->slots[d].attr_count; i++) {
        const tl_attr *attr = &mesh->slots[d].attrs[i];
        if (attr->rule == TL_ATTR_COPY) memcpy(element(attr, made), element(attr, a), element_size(attr));
        if (attr->rule == TL_ATTR_BOTH) {
            const int32_t *x = ints(attr, a), *y = ints(attr, b);
            int32_t *z = ints(attr, made);
            for (int32_t k = 0; k < attr->width; k++) z[k] = x[k] & y[k];
        }
        if (attr->rule != TL_ATTR_MEAN) continue;
        const double *x = doubles(attr, a), *y = doubles(attr, b);
        double *z = doubles(attr, made);
        for (int32_t k = 0; k < attr->width; k++) z[k] = (1 - t) * x[k] + t * y[k];
    }
}

void tl_attrs_split(tl_mesh *mesh, tl_domain d, int32_t parent, double share, int32_t made)
{
    for (int32_t i = 0; i < mesh->slots[d].attr_count; i++) {
        const tl_attr *attr = &mesh->slots[d].attrs[i];
        if (attr->rule == TL_ATTR_COPY || attr->rule == TL_ATTR_MEAN || attr->rule == TL_ATTR_BOTH)
            memcpy(element(attr, made), element(attr, parent), element_size(attr));
    }
    tl_attrs_move(mesh, d, parent, share, made);
}

void tl_attrs_move(tl_mesh *mesh, tl_domain d, int32_t from, double fraction, int32_t to)
{
    for (int32_t i = 0; i < mesh->slots[d].attr_count; i++) {
        const tl_attr *attr = &mesh->slots[d].attrs[i];
        if (attr->rule != TL_ATTR_CONSERVE) continue;
        double *x = doubles(attr, from), *y = doubles(attr, to);
        for (int32_t k = 0; k < attr->width; k++) {
            const double amount = fraction * x[k];
            x[k] -= amount;
            y[k] += amount;
        }
    }
}

void tl_attrs_mix(tl_mesh *mesh, tl_domain d, int32_t a, int32_t b, double share_a)
{
    for (int32_t i = 0; i < mesh->slots[d].attr_count; i++) {
        const tl_attr *attr = &mesh->slots[d].attrs[i];
        if (attr->rule != TL_ATTR_CONSERVE && attr->rule != TL_ATTR_MEAN) continue;
        double *x = doubles(attr, a), *y = doubles(attr, b);
        for (int32_t k = 0; k < attr->width; k++) {
            const double sum = x[k] + y[k];
            x[k] = attr->rule == TL_ATTR_MEAN ? 0.5 * sum : share_a * sum;
            y[k] = attr->rule == TL_ATTR_MEAN ? 0.5 * sum : sum - x[k];
        }
    }
}

void tl_attrs_restart(tl_mesh *mesh, tl_domain d, int32_t id)
{
    for (int32_t i = 0; i < mesh->slots[d].attr_count; i++) {
        const tl_attr *attr = &mesh->slots[d].attrs[i];
        if (attr->rule != TL_ATTR_CONSERVE) memset(element(attr, id), 0, element_size(attr));
    }
}
