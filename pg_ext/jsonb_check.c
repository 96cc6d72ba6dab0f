/*
 * jsonb_check.c - see jsonb_check.h, and the server's utils/jsonb.h for the
 * format: a header with the number of children, an entry for each with its type
 * and its length or the offset of its end, and the bytes of the children.
 */
#include "jsonb_check.h"

#include "../shared/json_scan.h"

/* A numeric as numeric.c stores it: a header, in the long form a weight, and
 * digits of base 10,000. JSON knows none of its special values. */
static bool is_number(const char *at, size_t size)
{
    enum { KIND = 0xC000, SHORT = 0x8000, SPECIAL = 0xC000 };
    uint16 header;
    size_t begin = sizeof header;

    if (size < VARHDRSZ + sizeof header || !VARATT_IS_4B_U(at) || VARSIZE(at) != size)
        return false;
    at += VARHDRSZ;
    size -= VARHDRSZ;
    memcpy(&header, at, sizeof header);
    if ((header & KIND) == SPECIAL)
        return false;
    if ((header & KIND) != SHORT)
        begin += sizeof(int16); /* the weight */
    if (size < begin || (size - begin) % sizeof(int16) != 0)
        return false;
    for (; begin < size; begin += sizeof(int16)) {
        int16 digit;
        memcpy(&digit, at + begin, sizeof digit);
        if (digit < 0 || digit > 9999)
            return false;
    }
    return true;
}

/* Recursion ends with the levels that JSON of ours may have. */
static alineo_jsonb_state check_container(const char *at, size_t size, int levels);

/* The child that lies between two offsets behind `base`. */
static alineo_jsonb_state check_child(const char *base, JEntry entry, size_t begin, size_t end,
                                      int levels)
{
    size_t aligned = INTALIGN(begin);

    if (JBE_ISSTRING(entry))
        return alineo_utf8_valid((alineo_span){base + begin, end - begin}) ? ALINEO_JSONB_SOUND
                                                                           : ALINEO_JSONB_BROKEN;
    if (JBE_ISNULL(entry) || JBE_ISBOOL(entry))
        return ALINEO_JSONB_SOUND;
    if (aligned > end)
        return ALINEO_JSONB_BROKEN;
    if (JBE_ISNUMERIC(entry))
        return is_number(base + aligned, end - aligned) ? ALINEO_JSONB_SOUND : ALINEO_JSONB_BROKEN;
    if (JBE_ISCONTAINER(entry))
        return check_container(base + aligned, end - aligned, levels - 1);
    return ALINEO_JSONB_BROKEN;
}

static alineo_jsonb_state check_container(const char *at, size_t size, int levels)
{
    uint32 header;
    size_t end = 0;

    if (levels == 0)
        return ALINEO_JSONB_TOO_DEEP;
    if (size < sizeof header)
        return ALINEO_JSONB_BROKEN;
    memcpy(&header, at, sizeof header);
    bool object = (header & JB_FOBJECT) != 0;
    size_t count = header & JB_CMASK;
    size_t children = object ? 2 * count : count;
    if (object == ((header & JB_FARRAY) != 0) || children > (size - sizeof header) / sizeof(JEntry))
        return ALINEO_JSONB_BROKEN;
    const char *entries = at + sizeof header;
    const char *base = entries + children * sizeof(JEntry);
    size_t room = size - sizeof header - children * sizeof(JEntry);
    for (size_t i = 0; i < children; i++) {
        size_t begin = end;
        JEntry entry;
        memcpy(&entry, entries + i * sizeof entry, sizeof entry);
        end = (JBE_HAS_OFF(entry) ? 0 : begin) + JBE_OFFLENFLD(entry);
        if (end < begin || end > room || (object && i < count && !JBE_ISSTRING(entry)))
            return ALINEO_JSONB_BROKEN;
        alineo_jsonb_state state = check_child(base, entry, begin, end, levels);
        if (state != ALINEO_JSONB_SOUND)
            return state;
    }
    return ALINEO_JSONB_SOUND;
}

alineo_jsonb_state alineo_jsonb_check_value(const char *base, JEntry entry, size_t begin,
                                            size_t end)
{
    return check_child(base, entry, begin, end, ALINEO_JSON_DEPTH);
}

alineo_jsonb_state alineo_jsonb_check(const Jsonb *value)
{
    size_t size = VARSIZE(value) - VARHDRSZ;
    const JsonbContainer *root = &value->root;

    if (VARSIZE(value) < VARHDRSZ + sizeof root->header)
        return ALINEO_JSONB_BROKEN;
    if (!JsonContainerIsScalar(root))
        return check_container((const char *)root, size, ALINEO_JSON_DEPTH);
    /* A scalar is kept as an array of one. */
    if (JsonContainerSize(root) != 1 || size < sizeof root->header + sizeof(JEntry) ||
        JBE_ISCONTAINER(root->children[0]))
        return ALINEO_JSONB_BROKEN;
    return check_container((const char *)root, size, 1);
}
