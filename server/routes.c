/* routes.c: the table of endpoints. A new endpoint is a row here and its handler; the methods that it takes, 405 with
 * Allow, the checks of its fields, its counters and its place in /openapi.json follow from the row. */
#include "routes.h"
#include "analysis.h"
#include "pure.h"

#include <string.h>

#define PURE (ROUTE_GET | ROUTE_POST | ROUTE_JSON | ROUTE_PURE)

static const struct route routes[] = {
    {"/eval", PURE, "eval", "Evaluate a program in CuTe notation, or a layout at coordinates.", handle_eval,
     eval_fields, "answer", NULL},
    {"/product", PURE, "eval", "One of the six products of two layouts.", handle_product, product_fields,
     "answer", NULL},
    {"/divide", PURE, "eval", "One of the four divides of a layout by a tiler.", handle_divide, divide_fields,
     "answer", NULL},
    {"/fit", PURE, "eval", "The layout that gives exactly a table of offsets, or where none can.", handle_fit,
     fit_fields, "fit", NULL},
    {"/access", PURE, "eval", "What one instruction of one warp costs in shared or global memory.",
     handle_access, access_fields, "access", NULL},
    {"/copy", PURE, "eval", "What a copy's partitions do to memory on each side; nothing is run.",
     handle_copy, copy_fields, "copy", NULL},
    {"/mma", PURE, "eval", "Who holds what in a tiled MMA, and what it does to memory; nothing is run.",
     handle_mma, mma_fields, "mma", NULL},
    {"/swizzle", PURE, "eval", "The swizzles of a shared-memory layout that serve the accesses to it best.",
     handle_swizzle, swizzle_fields, "swizzle", NULL},
    {"/atoms", ROUTE_GET | ROUTE_PURE, "eval", "The names and kinds of all MMA and copy atoms.", handle_atoms,
     atoms_fields, "atoms", NULL},
    {"/atoms", ROUTE_GET | ROUTE_PURE | ROUTE_PREFIX, "eval", "One atom: its shape, types and layouts.",
     handle_atom, no_fields, "atom", "name"},
    {"/ops", ROUTE_GET | ROUTE_PURE, "eval", "Every operation: what it takes and gives, its law, an example.",
     handle_ops, no_fields, "ops", NULL},
    {"/ops", PURE | ROUTE_PREFIX, "eval", "One operation: what it is or, with arguments, its answer.",
     handle_op, NULL, "answer", "name"},
    {"/render", PURE, "eval", "The picture of a layout, or of who holds what of a tile.", handle_render,
     render_fields, "image/svg+xml image/png application/pdf text/x-tex text/plain", NULL},
    {"/jobs", ROUTE_GET | ROUTE_POST | ROUTE_JSON, "run",
     "Submit a partition to be run; list what was submitted.", handle_jobs, NULL, "job", NULL},
    {"/jobs", ROUTE_GET | ROUTE_DELETE | ROUTE_PREFIX, "run",
     "A job, its state and result; DELETE cancels it.", handle_job, NULL, "job", "id"},
    {"/devices", ROUTE_GET, "run", "Every worker with its card, driver and queue.", handle_devices, NULL,
     "devices", NULL},
    {"/worker", ROUTE_POST | ROUTE_JSON | ROUTE_PREFIX, "worker",
     "The lease protocol between daemon and workers.", handle_worker, NULL, "lease", "action"},
    {"/livez", ROUTE_GET, NULL, "Is the daemon alive? Never waits for a card or the store.", handle_livez,
     NULL, "state", NULL},
    {"/readyz", ROUTE_GET, NULL, "Does the daemon take new work?", handle_readyz, NULL, "state", NULL},
    {"/metrics", ROUTE_GET, "metrics", "Counters for Prometheus.", handle_metrics, NULL, "text/plain", NULL},
    {"/openapi.json", ROUTE_GET | ROUTE_PURE, NULL, "This document.", handle_openapi, NULL, "document", NULL},
    {"/problems", ROUTE_GET | ROUTE_PURE | ROUTE_PREFIX, NULL, "What the type of a problem means.",
     handle_problem, NULL, "text/plain", "code"},
    {"/", ROUTE_GET, NULL, "The page.", handle_page, NULL, "text/html", NULL},
};
#define ROUTES (sizeof routes / sizeof *routes)
_Static_assert(ROUTES <= ROUTES_MAX, "more routes than counters");

static bool matches(const struct route *route, const char *path)
{
    size_t len = strlen(route->path);
    if (strncmp(path, route->path, len) != 0)
        return false;
    return route->flags & ROUTE_PREFIX ? path[len] == '/' && path[len + 1] : !path[len];
}

const struct route *route_find(const char *path)
{
    for (size_t i = 0; i < ROUTES; i++)
        if (matches(&routes[i], path))
            return &routes[i];
    return NULL;
}

const struct route *route_at(size_t i)
{
    return i < ROUTES ? &routes[i] : NULL;
}

size_t route_index(const struct route *route)
{
    return (size_t)(route - routes);
}
