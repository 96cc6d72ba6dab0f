/*
 * guard_text.h - what the guard over recorded events says to a change it refuses.
 * docs/reference.md, "alineo_guard".
 */
#ifndef ALINEO_GUARD_TEXT_H
#define ALINEO_GUARD_TEXT_H

#define ALINEO_GUARD_UPDATED   "alineo_guard: events must not be updated"
#define ALINEO_GUARD_DELETED   "alineo_guard: events must not be deleted"
#define ALINEO_GUARD_TRUNCATED "alineo_guard: events must not be truncated"
#define ALINEO_GUARD_REPLACED  "alineo_guard: events must not be replaced"

#endif
