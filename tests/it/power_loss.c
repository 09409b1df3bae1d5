// Loaded into redis-server before all else, it keeps what is written to the append-only file in memory
// until the file is synced, as a disk's cache and the system's do: what was not synced when the process
// is killed is lost, as it is when the power is.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *held;
static size_t held_size, held_room;

static int is_log(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strstr(path, ".incr.aof") != NULL;
}

ssize_t write(int fd, const void *data, size_t size) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    if (!is_log(fd)) return real(fd, data, size);
    pthread_mutex_lock(&lock);
    if (held_size + size > held_room) {
        held_room = 2 * (held_size + size);
        held = realloc(held, held_room);
        if (!held) abort();
    }
    memcpy(held + held_size, data, size);
    held_size += size;
    pthread_mutex_unlock(&lock);
    return size;
}

int fdatasync(int fd) {
    static ssize_t (*real_write)(int, const void *, size_t);
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
    if (!real_write) real_write = dlsym(RTLD_NEXT, "write");
    if (is_log(fd)) {
        pthread_mutex_lock(&lock);
        for (size_t done = 0; done < held_size;) {
            ssize_t written = real_write(fd, held + done, held_size - done);
            if (written <= 0) abort();
            done += written;
        }
        held_size = 0;
        pthread_mutex_unlock(&lock);
    }
    return real(fd);
}
