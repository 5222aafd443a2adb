/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>
#include "base/text.h"
#include "run/probe.h"

struct crew {
    const struct probe_many *many;
    pthread_mutex_t lock;
    size_t next, finished;
};

static void *work(void *arg)
{
    struct crew *crew = arg;
    const struct probe_many *many = crew->many;
    for (;;) {
        pthread_mutex_lock(&crew->lock);
        size_t i = crew->next++;
        pthread_mutex_unlock(&crew->lock);
        if (i >= many->count)
            return NULL;
        probe_host(many->options, &many->target[i], &many->out[i]);
        pthread_mutex_lock(&crew->lock);
        crew->finished++;
        if (many->done != NULL)
            many->done(many->arg, crew->finished);
        pthread_mutex_unlock(&crew->lock);
    }
}

void probe_run_many(const struct probe_many *many)
{
    struct crew crew = {.many = many, .lock = PTHREAD_MUTEX_INITIALIZER};
    size_t wanted = many->concurrency < many->count ? many->concurrency : many->count;
    size_t started = 0;
    pthread_t *thread = mem_alloc_zeroed(wanted > 0 ? wanted : 1, sizeof *thread);
    /* The caller's thread is one of them. */
    while (started + 1 < wanted && pthread_create(&thread[started], NULL, work, &crew) == 0)
        started++;
    work(&crew);
    for (size_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    free(thread);
}
