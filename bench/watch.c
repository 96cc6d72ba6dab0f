/*
 * watch.c - see watch.h.
 */
#include "watch.h"
#include "measure.h"

#include <time.h>

long watch_now(long process)
{
    long kb = process_kb(process, "RssAnon");

    if (kb < 0)
        fail("memory", "the process cannot be looked at");
    return kb;
}

static void *look(void *argument)
{
    watch *w = argument;

    while (!w->stop) {
        long now = watch_now(w->process);
        w->peak = now > w->peak ? now : w->peak;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return NULL;
}

void watch_begin(watch *w, long process)
{
    w->process = process;
    w->peak = watch_now(process);
    w->stop = false;
    if (pthread_create(&w->thread, NULL, look, w) != 0)
        fail("memory", "cannot start a thread");
}

long watch_end(watch *w)
{
    w->stop = true;
    pthread_join(w->thread, NULL);
    long noted = process_kb(w->process, "VmHWM") - process_kb(w->process, "RssShmem") -
                 process_kb(w->process, "RssFile");
    return noted > w->peak ? noted : w->peak;
}
