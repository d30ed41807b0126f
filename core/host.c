/* host.c: what a program of the host does beside its layouts: memory, floats, CUDA's calls, copies and
 * MMAs.
 *
 *     float *A = ...;  thrust::host_vector<float> h(size(l));  h[i] = 1.5f;  copy(a, b);  __syncthreads();
 *
 * All of it is data: one value without a layout. A declaration of data gives its name that value and reads
 * no further; members, elements and arithmetic of data are data; statements that only move data are passed
 * over. So it is understood, as having no part in any layout, and what is not in these tables is still an
 * unknown name. Device code is read as thread 0 of block 0 reads it. */
#include "program.h"

#include <ctype.h>
#include <string.h>

/* Types of variables that hold data. */
static const char data_types[] = "float double half half_t bfloat16_t tfloat32_t float_* __half __nv_* FILE "
                                 "string vector array unique_ptr "
                                 "host_vector device_vector HostTensor DeviceAllocation mt19937 "
                                 "random_device dim3 uint3 GPU_Clock GpuTimer "
                                 "ClusterLaunchParams";

/* Calls that give data, and constants that are data. */
static const char data_calls[] =
    "make_gmem_ptr make_smem_ptr make_rmem_ptr make_tmem_ptr recast_ptr raw_pointer_cast counting_iterator "
    "make_inttuple_iter reinterpret_cast const_cast new malloc rand drand48 getenv atoi setw setprecision "
    "setfill";
static const char data_names[] =
    "nullptr NULL stdout stderr RAND_MAX argv endl flush hex dec fixed boolalpha";

/* CUDA's calls, which succeed, its types and its constants: cudaEvent_t, cudaGetLastError(),
 * Status::kSuccess. */
static const char cuda_names[] =
    "cuda* CUresult CUstream CUdevice CUDA_SUCCESS cublas* curand* Status launch_kernel_on_cluster";

/* Statements that change no layout. */
static const char data_statements[] =
    "copy copy_if copy_aligned gemm clear fill axpby transform prefetch cooperative_* cp_async_* tma_store_* "
    "warpgroup_* __sync* syncthreads syncwarp cluster_sync cluster_arrive* cluster_wait initialize_barrier "
    "wait_barrier set_barrier_* device_init cuda* cublas* CUTE_CHECK_* CUDA_CHECK* CUTLASS_CHECK* EXPECT_* "
    "ASSERT_* "
    "srand free delete sscanf fflush exit abort";

/* One of the words of a list; one that ends with * stands for all that begin so. */
static bool listed(struct word w, const char *list)
{
    for (size_t n; *list; list += n + (list[n] == ' ')) {
        n = strcspn(list, " ");
        if (list[0] != w.text[0])
            continue;
        const bool prefix = list[n - 1] == '*';
        if (prefix ? w.len >= n - 1 && memcmp(w.text, list, n - 1) == 0
                   : w.len == n && memcmp(w.text, list, n) == 0)
            return true;
    }
    return false;
}

struct la_value la_data(void)
{
    return (struct la_value){.kind = LA_K_TEXT, .text = "data"};
}

bool la_is_data_type(struct word w)
{
    return listed(w, data_types);
}

bool la_data_member(struct parser *p)
{
    struct word w;
    la_skip_space(p);
    const char *s = p->text + p->at;
    if (s[0] == '(' || s[0] == '[') {
        la_skip_brackets(p);
        return true;
    }
    if (strncmp(s, "->", 2) == 0 || strncmp(s, "::", 2) == 0)
        p->at += 2;
    else if (s[0] == '.')
        p->at++;
    else
        return false;
    la_word(p, &w);
    return true;
}

bool la_data_literal(struct parser *p, struct la_value *out)
{
    static const char digits[] = "0123456789";
    *out = la_data();
    const size_t start = p->at;
    if (la_skip_string(p)) {
        if (p->text[start] == '\'')
            out->text = la_format(p->cx, "%.*s", (int)(p->at - start), p->text + start);
        while (la_next_is(p, '"')) /* "a" "b" is one */
            la_skip_string(p);
        return true;
    }
    const char *s = p->text + p->at;
    const size_t whole = strspn(s, digits);
    size_t n = whole;
    if (n && s[n] == '.' && !isalpha((unsigned char)s[n + 1]) && s[n + 1] != '_')
        n += 1 + strspn(s + n + 1, digits);
    if (n && (s[n] == 'e' || s[n] == 'E')) {
        const size_t e = n + 1 + (s[n + 1] == '-' || s[n + 1] == '+'), len = strspn(s + e, digits);
        n = len ? e + len : n;
    }
    if (n == whole)
        return false;
    p->at += n + strspn(s + n, "fFlL");
    return true;
}

/* threadIdx.x and blockIdx.y of thread 0 of block 0; how many there are only a launch says. */
static bool thread_name(struct parser *p, struct word w, struct la_value *out)
{
    if (la_word_is(w, "thread0") || la_word_is(w, "block0") || la_word_is(w, "thread") ||
        la_word_is(w, "block")) {
        if (!la_next_is(p, '('))
            return false;
        la_skip_brackets(p);
        *out = la_truth(true);
        return true;
    }
    if (la_word_is(w, "blockDim") || la_word_is(w, "gridDim"))
        la_syntax(p, w.at, w.len, LA_E_unknown_name, "%.*s has a value in a launch only: write the number",
                  (int)w.len, w.text);
    if (!la_word_is(w, "threadIdx") && !la_word_is(w, "blockIdx"))
        return false;
    la_data_member(p);
    *out = la_value_tuple(la_int(p->cx, 0, p->static_integers));
    return true;
}

/* thrust::raw_pointer_cast is raw_pointer_cast */
static struct word unqualified(struct word w)
{
    for (size_t i = w.len; i > 0; i--)
        if (w.text[i - 1] == ':')
            return (struct word){w.text + i, w.at + i, w.len - i};
    return w;
}

bool la_is_data_call(struct word w)
{
    return listed(w, data_calls) || listed(w, data_statements);
}

/* Behind the name of a call: [<...>] (...), or what `new` and `delete` take. */
static bool skip_call(struct parser *p, struct word w)
{
    if (la_word_is(w, "new") || la_word_is(w, "delete"))
        la_word(p, &w);
    if (la_next_is(p, '<'))
        la_skip_angles(p);
    if (la_next_is(p, '(') || la_next_is(p, '['))
        la_skip_brackets(p);
    else
        return la_next_is(p, ';'); /* delete p; */
    return true;
}

bool la_host_name(struct parser *p, struct word w, struct la_value *out)
{
    w = unqualified(w);
    if (thread_name(p, w, out))
        return true;
    *out = la_data();
    if (listed(w, cuda_names)) {
        while (la_data_member(p))
            ;
        out->text = "'success'"; /* compared with another, it is the same */
        return true;
    }
    return listed(w, data_names) || (la_is_data_call(w) && skip_call(p, w));
}

/* Is this an assignment to an element or a member: x[i] = ..., x(i,j) += ..., *p = ..., x.y = ... */
static bool assigns_data(struct parser *p)
{
    const size_t start = p->at;
    if (!la_skip_to(p, "=;") || p->text[p->at] != '=' || p->text[p->at + 1] == '=' || p->at == start)
        return false;
    const char *left = p->text + start;
    size_t n = p->at - start; /* of the left side, without the operator of += */
    if (strchr("<>!", left[n - 1]))
        return false;
    n -= strchr("+-*/%&|^", left[n - 1]) != NULL;
    while (n > 0 && isspace((unsigned char)left[n - 1]))
        n--;
    size_t name = n;
    while (name > 0 && (isalnum((unsigned char)left[name - 1]) || left[name - 1] == '_'))
        name--;
    const bool element = n > 0 && (left[n - 1] == ']' || left[n - 1] == ')');
    const bool member = name > 1 && (left[name - 1] == '.' || strncmp(left + name - 2, "->", 2) == 0);
    return left[0] == '*' || element || member;
}

/* NAME [<...>] "<<<": a kernel that is not in the text */
static bool launches(struct la_execution *x, struct word w)
{
    struct parser *p = &x->parser;
    if (!la_next_is(p, '<') || la_is_defined(x, w))
        return false;
    if (strncmp(p->text + p->at, "<<<", 3) != 0)
        la_skip_angles(p);
    return strncmp(p->text + p->at, "<<<", 3) == 0;
}

/* A variable: data that gets no new value, or a tensor of which an element does. */
static bool changes_data(struct parser *p, const struct la_binding *b, size_t start)
{
    if (la_is_data(b->value) && !la_next_is(p, '='))
        return true;
    p->at = start;
    return assigns_data(p);
}

/* Pass over the rest of a statement that began at `start` if it is passed over; false, and back there, if
 * not. */
static bool pass_over(struct la_execution *x, bool passed, size_t start)
{
    struct parser *p = &x->parser;
    if (!passed) {
        p->at = start;
        return false;
    }
    la_skip_to(p, ";");
    la_finish(x);
    return true;
}

bool la_data_statement(struct la_execution *x)
{
    struct parser *p = &x->parser;
    struct word w;
    la_skip_space(p);
    const size_t start = p->at;
    if (!la_word(p, &w))
        return pass_over(x, p->text[start] == '*' && assigns_data(p), start);
    if (la_word_is(w, "CUTE_UNROLL") || la_word_is(w, "CUTE_NO_UNROLL"))
        return true; /* a pragma: no ';' follows */
    const struct la_binding *b = p->names;
    while (b && !la_word_is(w, b->name))
        b = b->next;
    return pass_over(x, b ? changes_data(p, b, start) : launches(x, w), start);
}

bool la_host_statement(struct la_execution *x)
{
    struct parser *p = &x->parser;
    struct word w;
    if (la_data_statement(x))
        return true;
    const size_t start = p->at;
    return pass_over(x, la_word(p, &w) && la_is_data_call(w) && !la_is_call(x, w), start);
}
