/* pattern.c: names with alternatives, written as a shell does: one pattern stands for a family of names.
 *
 *     SM80_{16x8x8,16x8x16}_F{16,32}_TN     4 names
 *     SM90_64x{8..256..8}x16                32 names, with 8, 16, ... 256
 *
 * A '<' ends the name; behind it stand typical template arguments, with alternatives of their own, that are
 * listed with the name but are not part of it. Braces do not nest. */
#include "internal.h"

#include <stdio.h>
#include <string.h>

/* The numbers of {first..last..step}. */
struct range {
    uint32_t first, last, step;
};

static const char *digits(const char *s, const char *end, uint32_t *value)
{
    *value = 0;
    while (s < end && *s >= '0' && *s <= '9' && *value < 1000000)
        *value = *value * 10 + (uint32_t)(*s++ - '0');
    return s;
}

static bool is_range(const char *s, const char *end, struct range *out)
{
    const char *dots = memchr(s, '.', (size_t)(end - s));
    if (!dots || dots[1] != '.')
        return false;
    s = digits(s, end, &out->first) + 2;
    s = digits(s, end, &out->last) + 2;
    digits(s, end, &out->step);
    return true;
}

/* The end of the alternative at s. */
static const char *alternative_end(const char *s, const char *close)
{
    const char *comma = memchr(s, ',', (size_t)(close - s));
    return comma ? comma : close;
}

/* How much of name the alternative [s, end) takes; false when it does not fit. */
static bool take(const char *s, const char *end, const char *name, const char *name_end, size_t *taken)
{
    struct range r;
    *taken = (size_t)(end - s);
    if (!is_range(s, end, &r))
        return (size_t)(name_end - name) >= *taken && memcmp(name, s, *taken) == 0;
    uint32_t value;
    *taken = (size_t)(digits(name, name_end, &value) - name);
    return *taken > 0 && name[0] != '0' && value >= r.first && value <= r.last &&
           (value - r.first) % r.step == 0;
}

static bool match(const char *p, const char *name, const char *end, struct la_choice *choice)
{
    for (; *p && *p != '<' && *p != '{'; p++, name++)
        if (name == end || *name != *p)
            return false;
    if (*p != '{')
        return name == end;
    const char *close = strchr(p, '}');
    for (const char *s = p + 1, *stop; s <= close; s = stop + 1) {
        stop = alternative_end(s, close);
        size_t taken;
        if (!take(s, stop, name, end, &taken))
            continue;
        *choice = (struct la_choice){name, taken};
        if (match(close + 1, name + taken, end, choice + 1))
            return true;
    }
    return false;
}

bool la_pattern_match(const char *pattern, const char *name, size_t len,
                      struct la_choice choice[LA_MAX_CHOICES])
{
    return match(pattern, name, name + len, choice);
}

static size_t count_alternatives(const char *s, const char *close)
{
    struct range r;
    if (is_range(s, close, &r))
        return (r.last - r.first) / r.step + 1;
    size_t n = 1;
    for (; s < close; s++)
        n += *s == ',';
    return n;
}

size_t la_pattern_count(const char *pattern)
{
    size_t n = 1;
    for (const char *p = pattern; (p = strchr(p, '{')); p++)
        n *= count_alternatives(p + 1, strchr(p, '}'));
    return n;
}

/* ---- one name of the pattern ---- */

/* Text that is cut at the end of its room. */
struct name {
    char *text;
    size_t len, size;
};

static void append(struct name *out, const char *s, size_t n)
{
    n = n < out->size - 1 - out->len ? n : out->size - 1 - out->len;
    memcpy(out->text + out->len, s, n);
    out->len += n;
    out->text[out->len] = '\0';
}

/* Alternative i of {...}: from the text itself, or a number written into room. */
static struct la_choice alternative(const char *s, const char *close, size_t i, char room[16])
{
    struct range r;
    if (is_range(s, close, &r)) {
        const int n = snprintf(room, 16, "%u", r.first + (uint32_t)i * r.step);
        return (struct la_choice){room, (size_t)n};
    }
    const char *stop = alternative_end(s, close);
    for (; i > 0; i--) {
        s = stop + 1;
        stop = alternative_end(s, close);
    }
    return (struct la_choice){s, (size_t)(stop - s)};
}

void la_pattern_name(const char *pattern, size_t i, char out[LA_MAX_ATOM_NAME])
{
    struct name name = {.text = out, .size = LA_MAX_ATOM_NAME};
    for (const char *p = pattern, *close; *p; p = close + 1) {
        const char *open = strchrnul(p, '{');
        append(&name, p, (size_t)(open - p));
        if (!*open)
            return;
        close = strchr(open, '}');
        char room[16];
        const size_t n = count_alternatives(open + 1, close);
        const struct la_choice c = alternative(open + 1, close, i % n, room);
        append(&name, c.text, c.len);
        i /= n;
    }
}

/* ---- the nearest name ---- */

/* Edit distances from what is read of a pattern to each beginning of a name. */
struct distances {
    const char *name;
    size_t len, to[LA_MAX_ATOM_NAME];
};

static void copy_distances(struct distances *to, const struct distances *from)
{
    to->name = from->name;
    to->len = from->len;
    memcpy(to->to, from->to, (from->len + 1) * sizeof *to->to);
}

static void read_text(struct distances *d, struct la_choice text)
{
    for (size_t i = 0; i < text.len; i++) {
        size_t before = d->to[0]++;
        for (size_t j = 1; j <= d->len; j++) {
            const size_t changed = before + (d->name[j - 1] != text.text[i]);
            before = d->to[j];
            const size_t added = d->to[j - 1] + 1, left_out = before + 1;
            const size_t least = added < left_out ? added : left_out;
            d->to[j] = changed < least ? changed : least;
        }
    }
}

/* Behind {...} a beginning is as far as by the nearest alternative, so one pass sees the whole family. */
static void read_alternatives(struct distances *d, const char *s, const char *close)
{
    struct distances start, one;
    copy_distances(&start, d);
    const size_t n = count_alternatives(s, close);
    for (size_t i = 0; i < n; i++) {
        char room[16];
        copy_distances(&one, &start);
        read_text(&one, alternative(s, close, i, room));
        for (size_t j = 0; j <= d->len; j++)
            d->to[j] = i == 0 || one.to[j] < d->to[j] ? one.to[j] : d->to[j];
    }
}

/* The least distance from the names of a pattern, whose first alternatives may be chosen, to a name. */
static size_t distance(const char *pattern, const char *name, size_t len, size_t chosen, const size_t *choice)
{
    struct distances d = {.name = name, .len = len};
    for (size_t j = 0; j <= len; j++)
        d.to[j] = j;
    size_t k = 0;
    for (const char *p = pattern, *close; *p && *p != '<'; p = close + 1, k++) {
        const size_t literal = strcspn(p, "{<");
        read_text(&d, (struct la_choice){p, literal});
        p += literal;
        if (*p != '{')
            break;
        close = strchr(p, '}');
        char room[16];
        if (k < chosen)
            read_text(&d, alternative(p + 1, close, choice[k], room));
        else
            read_alternatives(&d, p + 1, close);
    }
    return d.to[len];
}

size_t la_pattern_distance(const char *pattern, const char *name, size_t len)
{
    return distance(pattern, name, len, 0, NULL);
}

void la_pattern_nearest(const char *pattern, const char *name, size_t len, char out[LA_MAX_ATOM_NAME])
{
    size_t choice[LA_MAX_CHOICES] = {0}, index = 0, radix = 1, k = 0;
    const size_t least = la_pattern_distance(pattern, name, len);
    const char *end = strchrnul(pattern, '<');
    for (const char *p = pattern; (p = strchr(p, '{')) && p < end; p++, k++) {
        const size_t n = count_alternatives(p + 1, strchr(p, '}'));
        while (choice[k] + 1 < n && distance(pattern, name, len, k + 1, choice) != least)
            choice[k]++;
        index += radix * choice[k];
        radix *= n;
    }
    la_pattern_name(pattern, index, out);
    out[strcspn(out, "<")] = '\0';
}
