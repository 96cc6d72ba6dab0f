/*
 * version.h - the version both engines report. META.json, the control file and
 * the name of the PostgreSQL script carry it too; a test compares them.
 */
#ifndef ALINEO_VERSION_H
#define ALINEO_VERSION_H

#define ALINEO_VERSION "1.0.0"

#endif
