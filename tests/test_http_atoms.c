/* test_http_atoms.c: the list of atoms, that /mma answers every MMA in it, and what tiled values are made of.
 *
 *     GET /atoms?kind=mma -> {"atoms":[{"name":"SM90_64x256x16_F32F16F16_SS<...>","kind":"mma"}, ...]}
 *     POST /mma           -> the tile, and of each operand its TV layout and who holds it
 * What one answer says of one atom stands in tests/http. */
#include "http_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

static struct daemon d;

/* The JSON of an answer with status 200; body: of a POST, or NULL. */
static cJSON *ask(const char *path, const char *body)
{
    char request[2048];
    const int len = snprintf(
        request, sizeof request,
        "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
        "Content-Length: %zu\r\n\r\n%s",
        body ? "POST" : "GET", path, body ? strlen(body) : 0, body ? body : "");
    assert_true(len > 0 && (size_t)len < sizeof request);
    struct answer a = client_ask(&d, request, (size_t)len);
    if (a.status != 200)
        fail_msg("%s %s: %d %.*s", path, body ? body : "", a.status, (int)a.body_len, a.body);
    cJSON *json = cJSON_ParseWithLength(a.body, a.body_len);
    assert_non_null(json);
    answer_free(&a);
    return json;
}

static const cJSON *member(const cJSON *json, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(json, name);
    if (!found)
        fail_msg("no member %s", name);
    return found;
}

/* Each of both kinds is on the list of its kind, and the list of all is these two. */
static void test_kinds(void **state)
{
    (void)state;
    cJSON *all = ask("/atoms", NULL);
    int count = 0;
    for (int k = 0; k < 2; k++) {
        const char *kind = k ? "copy" : "mma", *path = k ? "/atoms?kind=copy" : "/atoms?kind=mma";
        cJSON *some = ask(path, NULL);
        const cJSON *atom;
        cJSON_ArrayForEach (atom, member(some, "atoms"))
            assert_string_equal(member(atom, "kind")->valuestring, kind);
        assert_int_equal(cJSON_GetArraySize(member(some, "atoms")), member(some, "count")->valueint);
        count += member(some, "count")->valueint;
        cJSON_Delete(some);
    }
    assert_int_equal(member(all, "count")->valueint, count);
    cJSON_Delete(all);
}

static void check_operand(const char *atom, const cJSON *operand)
{
    const cJSON *coverage = member(operand, "coverage");
    const bool covered = member(coverage, "missed")->valueint == 0 &&
                         member(coverage, "outside")->valueint == 0;
    if (!covered)
        fail_msg("%s: %s", atom, cJSON_PrintUnformatted(operand));
    if (cJSON_IsTrue(member(operand, "descriptor")) && !cJSON_IsTrue(member(coverage, "each_once")))
        fail_msg("%s reads an operand through a descriptor more than once: %s", atom,
                 cJSON_PrintUnformatted(operand));
}

/* The largest ones have descriptors of which 128 threads could not hold what they read. */
static void test_every_mma(void **state)
{
    (void)state;
    cJSON *list = ask("/atoms?kind=mma", NULL);
    const cJSON *atom;
    cJSON_ArrayForEach (atom, member(list, "atoms")) {
        const char *name = member(atom, "name")->valuestring;
        char body[512];
        snprintf(body, sizeof body, "{\"atom\":\"%s\"}", name);
        cJSON *answer = ask("/mma", body);
        check_operand(name, member(answer, "A"));
        check_operand(name, member(answer, "B"));
        check_operand(name, member(answer, "C"));
        cJSON_Delete(answer);
    }
    cJSON_Delete(list);
}

/* Two instructions along M read one B: who they are is told by their first threads. */
static void test_readers(void **state)
{
    (void)state;
    cJSON *answer = ask("/mma", "{\"atom\":\"SM90_64x256x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>\","
                                "\"atom_layout\":\"(2,1,1)\"}");
    const cJSON *a = member(member(answer, "A"), "coverage"), *b = member(member(answer, "B"), "coverage");
    assert_true(cJSON_IsTrue(member(a, "each_once")));
    assert_int_equal(cJSON_GetArrayItem(member(b, "owners"), 0)->valueint, 2);
    assert_int_equal(cJSON_GetArrayItem(member(b, "owners"), 1)->valueint, 2);
    const cJSON *by = member(cJSON_GetArrayItem(member(b, "doubled_at"), 3), "by");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(member(cJSON_GetArrayItem(by, i), "thread")->valueint, 128 * i);
        assert_int_equal(member(cJSON_GetArrayItem(by, i), "value")->valueint, 3);
    }
    cJSON_Delete(answer);
}

/* What a tiled copy or MMA says that it was made of makes the same again. */
static void test_made_of(void **state)
{
    (void)state;
    const char *const mmas[] = {
        "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_2>>{}, Tile<_32,_32,_16>{})",
        "make_tiled_mma(SM70_8x8x4_F32F16F16F32_NT{}, (_4,_2):(_2,_1))",
        "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (_2,_4):(_4,_1), (_,(_8,_4,_2):(_1,_16,_8),_))"};
    for (size_t i = 0; i < sizeof mmas / sizeof *mmas; i++) {
        char body[1024];
        snprintf(body, sizeof body, "{\"expr\":\"%s\"}", mmas[i]);
        cJSON *tiled = ask("/eval", body);
        const cJSON *value = member(tiled, "value");
        snprintf(body, sizeof body, "{\"expr\":\"make_tiled_mma(%s{}, %s, %s)\",\"integers\":\"static\"}",
                 member(value, "atom")->valuestring, member(value, "atom_layout")->valuestring,
                 member(value, "permutation")->valuestring);
        cJSON *again = ask("/eval", body);
        assert_string_equal(member(again, "cute")->valuestring, member(tiled, "cute")->valuestring);
        cJSON_Delete(tiled);
        cJSON_Delete(again);
    }
    cJSON *tiled = ask("/eval", "{\"expr\":\"make_tiled_copy(Copy_Atom<UniversalCopy<uint64_t>,half_t>{}, "
                                "(_16,_8):(_8,_1), (_1,_4):(_0,_1)).get_slice(5)\"}");
    const cJSON *value = member(tiled, "value");
    char body[1024];
    snprintf(
        body, sizeof body,
        "{\"expr\":\"make_tiled_copy(Copy_Atom<%s,%s>{}, %s, %s).get_slice(%s)\",\"integers\":\"static\"}",
        member(value, "atom")->valuestring, member(value, "type")->valuestring,
        member(value, "thr")->valuestring, member(value, "val")->valuestring,
        member(value, "thread")->valuestring);
    cJSON *again = ask("/eval", body);
    assert_string_equal(member(again, "text")->valuestring, member(tiled, "text")->valuestring);
    cJSON_Delete(tiled);
    cJSON_Delete(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_every_mma),
        cmocka_unit_test(test_readers),
        cmocka_unit_test(test_made_of),
    };
    const int count = sizeof tests / sizeof *tests + 1; /* the end of the daemon is a test, too */
    if (!daemon_start(&d, NULL))
        return 1;
    int failed = cmocka_run_group_tests_name("http atoms", tests, NULL, NULL);
    struct bytes log = {0};
    kill(d.pid, SIGTERM);
    if (daemon_wait(&d, &log) != 0) {
        failed++;
        printf("the daemon did not end well: %s\n", log.data ? log.data : "");
    }
    free(log.data);
    printf("%d passed, %d failed\n", count - failed, failed);
    return failed ? 1 : 0;
}
