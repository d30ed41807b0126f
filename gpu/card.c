/* card.c: one GPU of this process. Nothing here changes a setting of the card: clocks, power and modes are
 * read only.
 *
 * An error of a CUDA call belongs to one of three: the kernel (an illegal access, a trap), which ends the
 * process because CUDA refuses all later calls in it; the user (asks for too much), and the
 * infrastructure. */
#include "card.h"

#ifdef GPU_HAVE_CUDA

#include <string.h>
#include <unistd.h>

enum {
    BLOCK = 256,        /* threads of the support kernels' blocks */
    BLOCKS_PER_SM = 8,  /* of support kernels, which loop: all 2048 threads of a multiprocessor */
    FLUSH_TIMES_L2 = 2, /* bytes that the flush reads: L2 need not drop the oldest line first */
    CANARY_WORDS = 4096,
    CANARY_SEED = 20
};

/* Errors after which a kernel is to blame and the context is lost. */
static bool is_kernel_fault(CUresult r)
{
    switch (r) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
        return true;
    default:
        return false;
    }
}

/* Errors that say nothing about a kernel; anything else from a context in use may leave it unusable. */
static bool is_harmless(CUresult r)
{
    return r == CUDA_ERROR_OUT_OF_MEMORY || r == CUDA_ERROR_INVALID_VALUE ||
           r == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES || r == CUDA_ERROR_NO_BINARY_FOR_GPU ||
           r == CUDA_ERROR_INVALID_IMAGE || r == CUDA_ERROR_INVALID_PTX || r == CUDA_ERROR_NOT_FOUND ||
           r == CUDA_ERROR_NOT_SUPPORTED;
}

bool gpu_card_ok(struct gpu_card *card, CUresult r, const char *what)
{
    const char *name = NULL, *text = NULL;
    if (r == CUDA_SUCCESS)
        return true;
    card->cu->cuGetErrorName(r, &name);
    card->cu->cuGetErrorString(r, &text);
    card->failure.kind = is_kernel_fault(r) ? GPU_KERNEL_FAULT : GPU_INFRA;
    card->failure.fatal = !is_harmless(r);
    snprintf(card->failure.message, sizeof card->failure.message, "%s: %s (%d): %s", what,
             name ? name : "error", (int)r, text ? text : "no description");
    return false;
}

/* ---- what a job takes ---- */

bool gpu_card_take(struct gpu_card *card, int64_t bytes, CUdeviceptr *out)
{
    char what[64];
    snprintf(what, sizeof what, "%lld bytes of device memory", (long long)bytes);
    if (!gpu_card_ok(card, card->cu->cuMemAlloc(out, (size_t)bytes), what))
        return false;
    card->taken[card->taken_count++] = *out;
    return true;
}

bool gpu_card_load(struct gpu_card *card, const void *image, const char *name, CUfunction *out)
{
    return gpu_card_ok(card, card->cu->cuModuleLoadData(&card->module, image), "loading the kernel") &&
           gpu_card_ok(card, card->cu->cuModuleGetFunction(out, card->module, name), name);
}

void gpu_card_release(struct gpu_card *card)
{
    if (card->failure.fatal) /* every call would fail, and the process ends anyway */
        return;
    while (card->taken_count > 0)
        card->cu->cuMemFree(card->taken[--card->taken_count]);
    if (card->module)
        card->cu->cuModuleUnload(card->module);
    card->module = NULL;
}

/* ---- launching ---- */

bool gpu_card_launch(struct gpu_card *card, CUfunction kernel, int64_t grid, int64_t block,
                     int64_t shared_bytes, void **args)
{
    return gpu_card_ok(card,
                       card->cu->cuLaunchKernel(kernel, (unsigned)grid, 1, 1, (unsigned)block, 1, 1,
                                                (unsigned)shared_bytes, card->stream, args, NULL),
                       "launching a kernel");
}

bool gpu_card_for_each(struct gpu_card *card, CUfunction kernel, uint64_t n, void **args)
{
    const uint64_t most = (uint64_t)card->multiprocessors * BLOCKS_PER_SM, blocks = (n + BLOCK - 1) / BLOCK;
    return gpu_card_launch(card, kernel, (int64_t)(blocks < most ? blocks : most), BLOCK, 0, args);
}

bool gpu_card_wait(struct gpu_card *card)
{
    return gpu_card_ok(card, card->cu->cuStreamSynchronize(card->stream), "running the kernel");
}

bool gpu_card_found_clear(struct gpu_card *card)
{
    static const struct gpu_found none = {0, UINT64_MAX};
    return gpu_card_ok(card, card->cu->cuMemcpyHtoDAsync(card->found, &none, sizeof none, card->stream),
                       "clearing");
}

bool gpu_card_found_read(struct gpu_card *card, struct gpu_found *out)
{
    return gpu_card_ok(card, card->cu->cuMemcpyDtoHAsync(out, card->found, sizeof *out, card->stream),
                       "reading") &&
           gpu_card_wait(card);
}

/* ---- opening ---- */

static int attribute(const struct gpu_card *card, CUdevice_attribute which)
{
    int value = 0;
    card->cu->cuDeviceGetAttribute(&value, which, card->device);
    return value;
}

static void describe(struct gpu_card *card)
{
    const struct gpu_driver *cu = card->cu;
    CUuuid id = {0};
    cu->cuDeviceGetName(card->name, sizeof card->name, card->device);
    cu->cuDriverGetVersion(&card->driver);
    cu->cuDeviceTotalMem(&card->memory, card->device);
    cu->cuDeviceGetUuid(&id, card->device);
    card->major = attribute(card, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    card->minor = attribute(card, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    card->multiprocessors = attribute(card, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    card->threads_per_multiprocessor = attribute(card, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    card->shared_per_block = attribute(card, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    card->l2_bytes = attribute(card, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    const double khz = attribute(card, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    const double bits = attribute(card, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    card->peak_gbps = 2 * khz * bits / 8 * 1e-6; /* two transfers a clock */
    /* From Hopper on the instructions of one generation have an architecture of their own: sm_90a. */
    snprintf(card->arch, sizeof card->arch, "sm_%d%d%s", card->major, card->minor,
             card->major >= 9 ? "a" : "");
    int n = snprintf(card->uuid, sizeof card->uuid, "GPU-");
    for (int i = 0; i < 16; i++)
        n += snprintf(card->uuid + n, sizeof card->uuid - (size_t)n, "%s%02x",
                      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)id.bytes[i]);
}

static void open_nvml(struct gpu_card *card)
{
    const char *why;
    const struct gpu_nvml *nvml = gpu_nvml_open(&why);
    if (nvml && nvml->nvmlInit_v2() == 0 &&
        nvml->nvmlDeviceGetHandleByUUID(card->uuid, &card->nvml_device) == 0)
        card->nvml = nvml;
}

static bool find_device(struct gpu_card *card, int index)
{
    const char *why;
    int count = 0;
    card->cu = gpu_driver_open(&why);
    if (!card->cu) {
        snprintf(card->failure.message, sizeof card->failure.message, "no GPU driver: %s", why);
        return false;
    }
    if (!gpu_card_ok(card, card->cu->cuInit(0), "starting CUDA") ||
        !gpu_card_ok(card, card->cu->cuDeviceGetCount(&count), "counting devices"))
        return false;
    if (index >= count) {
        snprintf(card->failure.message, sizeof card->failure.message, "no GPU %d: there are %d", index,
                 count);
        return false;
    }
    if (!gpu_card_ok(card, card->cu->cuDeviceGet(&card->device, index), "finding the device"))
        return false;
    card->index = index;
    describe(card);
    open_nvml(card);
    gpu_others_begin(&card->others, card->nvml, card->nvml_device);
    return gpu_card_ok(card, card->cu->cuDevicePrimaryCtxRetain(&card->context, card->device),
                       "making a context") &&
           gpu_card_ok(card, card->cu->cuCtxSetCurrent(card->context), "making a context") &&
           gpu_card_ok(card, card->cu->cuStreamCreate(&card->stream, CU_STREAM_NON_BLOCKING),
                       "making a stream");
}

static bool load_support(struct la_ctx *cx, struct gpu_card *card)
{
    const struct {
        const char *name;
        CUfunction *slot;
    } kernels[] = {
        {"fill", &card->fill},         {"intact", &card->intact},      {"strays", &card->strays},
        {"check_8", &card->check[0]},  {"check_16", &card->check[1]},  {"check_32", &card->check[2]},
        {"check_64", &card->check[3]}, {"check_128", &card->check[4]}, {"gather", &card->gather},
        {"hold", &card->hold},         {"flush", &card->flush},        {"vector_copy", &card->vector_copy}};
    struct gpu_cubin cubin;
    if (!gpu_compile(cx, gpu_support_source(cx), card->arch, &cubin)) {
        snprintf(card->failure.message, sizeof card->failure.message, "%s", cx->error.message);
        return false;
    }
    if (!gpu_card_ok(card, card->cu->cuModuleLoadData(&card->support, cubin.image),
                     "loading the support kernels"))
        return false;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (!gpu_card_ok(card, card->cu->cuModuleGetFunction(kernels[i].slot, card->support, kernels[i].name),
                         kernels[i].name))
            return false;
    return true;
}

static bool reserve_own(struct gpu_card *card)
{
    void *go = NULL;
    card->flush_bytes = (size_t)card->l2_bytes * FLUSH_TIMES_L2;
    const bool ok =
        gpu_card_ok(card, card->cu->cuMemAlloc(&card->found, sizeof(struct gpu_found)), "device memory") &&
        gpu_card_ok(card, card->cu->cuMemAlloc(&card->flush_from, card->flush_bytes + 16), "device memory") &&
        gpu_card_ok(card, card->cu->cuMemHostAlloc(&go, sizeof *card->go, CU_MEMHOSTALLOC_DEVICEMAP),
                    "pinned memory") &&
        gpu_card_ok(card, card->cu->cuMemHostGetDevicePointer(&card->go_device, go, 0), "pinned memory");
    card->go = go;
    return ok;
}

/* The card must give the right answer to a question whose answer is known before it is trusted with
 * others. */
static bool canary(struct gpu_card *card)
{
    static uint64_t words[CANARY_WORDS];
    uint64_t n = CANARY_WORDS, seed = CANARY_SEED;
    CUdeviceptr memory = card->flush_from;
    void *args[] = {&memory, &n, &seed};
    if (!gpu_card_for_each(card, card->fill, n, args) ||
        !gpu_card_ok(card, card->cu->cuMemcpyDtoHAsync(words, memory, sizeof words, card->stream),
                     "the canary") ||
        !gpu_card_wait(card))
        return false;
    for (uint64_t i = 0; i < n; i++)
        if (words[i] != gpu_random_word(seed, i)) {
            snprintf(card->failure.message, sizeof card->failure.message,
                     "the canary kernel gave a wrong answer");
            return false;
        }
    return true;
}

struct opening {
    struct gpu_card *card;
    int index;
    bool ok;
};

static void open_body(struct la_ctx *cx, void *arg)
{
    struct opening *o = arg;
    struct gpu_card *card = o->card;
    o->ok = find_device(card, o->index) && load_support(cx, card) && reserve_own(card) && canary(card);
    if (o->ok)
        gpu_others_find_self(&card->others, (unsigned)getpid());
    else
        snprintf(card->why, sizeof card->why, "%s", card->failure.message);
}

bool gpu_card_open(struct la_ctx *cx, struct gpu_card *card, int index)
{
    struct opening o = {card, index, false};
    *card = (struct gpu_card){0};
    if (!la_try(cx, open_body, &o))
        snprintf(card->why, sizeof card->why, "%s", cx->error.message);
    return o.ok;
}

cJSON *gpu_card_json(const struct gpu_card *card)
{
    char text[32];
    const char *version = "", *why;
    cJSON *json = cJSON_CreateObject();
    gpu_compiler(&version, &why);
    cJSON_AddStringToObject(json, "executor", "gpu");
    cJSON_AddStringToObject(json, "name", card->name);
    snprintf(text, sizeof text, "%d.%d", card->major, card->minor);
    cJSON_AddStringToObject(json, "capability", text);
    cJSON_AddStringToObject(json, "arch", card->arch);
    cJSON_AddStringToObject(json, "uuid", card->uuid);
    cJSON_AddNumberToObject(json, "sms", card->multiprocessors);
    cJSON_AddNumberToObject(json, "l2_bytes", card->l2_bytes);
    cJSON_AddNumberToObject(json, "memory_bytes", (double)card->memory);
    snprintf(text, sizeof text, "%d.%d", card->driver / 1000, card->driver % 1000 / 10);
    cJSON_AddStringToObject(json, "driver", text);
    cJSON_AddStringToObject(json, "nvrtc", version);
    cJSON_AddBoolToObject(json, "nvml", card->nvml != NULL);
    return json;
}

#endif
