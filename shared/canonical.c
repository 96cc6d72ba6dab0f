/*
 * canonical.c - the canonical form. See canonical.h.
 *
 * One scan turns the text into a flat list of nodes in reading order, each
 * knowing where the next sibling is. Objects are sorted over pointers to their
 * members. Writing walks the nodes with a stack as deep as JSON may nest, so
 * no input makes the C stack grow.
 */
#include "canonical.h"
#include "json_number.h"
#include "json_write.h"
#include "storage_escape.h"

#include <stdlib.h>
#include <string.h>

typedef struct node {
    alineo_token kind;
    alineo_span text;
    size_t past; /* index of the first node behind this one's last */
    /* A key's stored form: its place in tree.keys, made a span once that
     * buffer stopped moving. */
    size_t key_offset;
    alineo_span key;
} node;

typedef struct tree {
    alineo_buffer nodes; /* of node */
    alineo_buffer keys;  /* stored forms */
    alineo_buffer text;  /* scratch */
} tree;

/* An object or array being written: what is left of its sorted children. */
typedef struct level {
    node **children;
    size_t count, next;
    bool object;
} level;

static node *node_at(const tree *t, size_t index)
{
    return (node *)(void *)t->nodes.at + index;
}

static size_t node_count(const tree *t)
{
    return t->nodes.len / sizeof(node);
}

static void add_key(tree *t, node *n)
{
    t->text.len = 0;
    alineo_text_append(&t->text, n->text, ALINEO_ESCAPED);
    n->key_offset = t->keys.len;
    alineo_storage_encode(&t->keys, alineo_buffer_span(&t->text));
    n->key.len = t->keys.len - n->key_offset;
}

static void read_nodes(tree *t, alineo_span json)
{
    size_t open[ALINEO_JSON_DEPTH + 1];
    alineo_scan scan;
    alineo_token token;

    alineo_scan_init(&scan, json);
    while ((token = alineo_scan_token(&scan)) != ALINEO_END && token != ALINEO_FAULT) {
        if (token == ALINEO_OBJECT_END || token == ALINEO_ARRAY_END) {
            node_at(t, open[scan.depth + 1])->past = node_count(t);
            continue;
        }
        node n = {.kind = token, .text = scan.text, .past = node_count(t) + 1};
        if (token == ALINEO_KEY)
            add_key(t, &n);
        if (token == ALINEO_OBJECT || token == ALINEO_ARRAY)
            open[scan.depth] = node_count(t);
        alineo_buffer_put(&t->nodes, (const char *)&n, sizeof n);
        if (t->nodes.failed)
            return;
    }
    for (size_t i = 0; i < node_count(t); i++)
        if (node_at(t, i)->kind == ALINEO_KEY && !t->keys.failed && node_at(t, i)->key.len > 0)
            node_at(t, i)->key.at = t->keys.at + node_at(t, i)->key_offset;
}

/* JSONB's order; equal keys in reading order. */
static int compare_keys(const void *a, const void *b)
{
    const node *x = *(node *const *)a;
    const node *y = *(node *const *)b;

    if (x->key.len != y->key.len)
        return x->key.len < y->key.len ? -1 : 1;
    int order = x->key.len == 0 ? 0 : memcmp(x->key.at, y->key.at, x->key.len);
    if (order != 0)
        return order;
    return x < y ? -1 : x > y;
}

/* Lists the children of a container (the keys of an object), ready to write. */
static bool open_level(const tree *t, const alineo_memory *memory, node *container, level *l)
{
    size_t first = (size_t)(container - node_at(t, 0)) + 1;
    size_t count = 0;

    l->object = container->kind == ALINEO_OBJECT;
    for (size_t i = first; i < container->past; count++)
        i = node_at(t, i + l->object)->past;
    l->children = NULL;
    l->count = l->next = 0;
    if (count == 0)
        return true;
    l->children = alineo_allocate(memory, count * sizeof *l->children);
    if (l->children == NULL)
        return false;
    for (size_t i = first; i < container->past; i = node_at(t, i + l->object)->past)
        l->children[l->count++] = node_at(t, i);
    if (!l->object)
        return true;
    qsort(l->children, l->count, sizeof *l->children, compare_keys);
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++)
        if (i + 1 == l->count || !alineo_span_equal(l->children[i]->key, l->children[i + 1]->key))
            l->children[kept++] = l->children[i];
    l->count = kept;
    return true;
}

static void put_string(alineo_buffer *out, tree *t, alineo_span escaped)
{
    t->text.len = 0;
    alineo_text_append(&t->text, escaped, ALINEO_ESCAPED);
    alineo_json_string(out, alineo_buffer_span(&t->text));
}

static void put_scalar(alineo_buffer *out, tree *t, const node *n)
{
    if (n->kind == ALINEO_STRING)
        put_string(out, t, n->text);
    else if (n->kind == ALINEO_NUMBER)
        alineo_number_canonical(out, n->text);
    else
        alineo_buffer_put(out, n->text.at, n->text.len);
}

static bool is_container(const node *n)
{
    return n->kind == ALINEO_OBJECT || n->kind == ALINEO_ARRAY;
}

static void write_nodes(alineo_buffer *out, tree *t, level *levels)
{
    node *n = node_at(t, 0);
    size_t depth = 0;

    for (;;) {
        if (is_container(n)) {
            alineo_buffer_byte(out, n->kind == ALINEO_OBJECT ? '{' : '[');
            if (!open_level(t, out->memory, n, &levels[depth])) {
                out->failed = true;
                break;
            }
            depth++;
        } else {
            put_scalar(out, t, n);
        }
        while (depth > 0 && levels[depth - 1].next == levels[depth - 1].count) {
            depth--;
            alineo_buffer_byte(out, levels[depth].object ? '}' : ']');
            alineo_release(out->memory, levels[depth].children);
        }
        if (depth == 0)
            return;
        level *l = &levels[depth - 1];
        if (l->next > 0)
            alineo_buffer_byte(out, ',');
        n = l->children[l->next++];
        if (l->object) {
            put_string(out, t, n->text);
            alineo_buffer_byte(out, ':');
            n++; /* the value stands behind its key */
        }
    }
    while (depth > 0)
        alineo_release(out->memory, levels[--depth].children);
}

void alineo_canonical(alineo_buffer *out, alineo_span json)
{
    level *levels = alineo_allocate(out->memory, (ALINEO_JSON_DEPTH + 1) * sizeof *levels);
    tree t;

    alineo_buffer_init(&t.nodes, out->memory);
    alineo_buffer_init(&t.keys, out->memory);
    alineo_buffer_init(&t.text, out->memory);
    read_nodes(&t, json);
    out->failed |= levels == NULL || t.nodes.failed || t.keys.failed;
    if (!out->failed && node_count(&t) > 0)
        write_nodes(out, &t, levels);
    out->failed |= t.text.failed;
    alineo_buffer_free(&t.nodes);
    alineo_buffer_free(&t.keys);
    alineo_buffer_free(&t.text);
    alineo_release(out->memory, levels);
}
