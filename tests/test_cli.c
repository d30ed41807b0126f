/* test_cli.c: the program without a server: what is printed where, and the exit status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

/* A command line behind the program's path; what it prints; its exit status. */
static const struct run {
    const char *line, *output;
    int status;
} runs[] = {
    {"eval 'logical_divide(12:1,4:1)'", "(_4,_3):(_1,_4)\n", 0},
    {"eval 'coalesce((2,3):(1,2))' --integers cute", "(2,3):(1,2)\n", 0},
    {"eval 'print(_1{}); print(Layout<_4>{}); _7{}'", "_1\n_4:_1\n_7\n", 0},
    {"eval - <<'END'\nint main() {\n  print(Layout<_4>{});\n}\nEND", "_4:_1\n_4:_1\n", 0},
    {"eval - </dev/null", "layoutd: standard input must be text of 1 to 1048576 bytes\n", 1},
    {"eval 'blocked_prodct((2,3):(3,1), (2,2))'",
     "unknown_name: unknown name 'blocked_prodct'; did you mean 'blocked_product'?\n"
     "  blocked_prodct((2,3):(3,1), (2,2))\n"
     "  ^^^^^^^^^^^^^^\n",
     1},
    {"eval", "layoutd: eval EXPR [--integers auto|cute|static]\n", 2},
    {"eval 1 2", "layoutd: eval EXPR [--integers auto|cute|static]\n", 2},
    {"eval 1 --integers maybe", "layoutd: eval EXPR [--integers auto|cute|static]\n", 2},
    {"evil", "layoutd: what is 'evil'? --help tells what there is\n", 2},
};
enum { RUNS = sizeof runs / sizeof runs[0], OUTPUT_BYTES = 4096 };

static void check(void **state)
{
    const struct run *r = *state;
    const char *build = getenv("BUILD");
    char command[OUTPUT_BYTES], output[OUTPUT_BYTES];
    snprintf(command, sizeof command, "exec 2>&1; %s/layoutd %s", build ? build : "build", r->line);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    output[fread(output, 1, sizeof output - 1, f)] = '\0';
    const int status = pclose(f);
    assert_string_equal(output, r->output);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), r->status);
}

int main(void)
{
    struct CMUnitTest tests[RUNS];
    for (size_t i = 0; i < RUNS; i++)
        tests[i] = (struct CMUnitTest){
            .name = runs[i].line, .test_func = check, .initial_state = (void *)&runs[i]};
    const int failed = _cmocka_run_group_tests("cli", tests, RUNS, NULL, NULL);
    printf("%d passed, %d failed\n", RUNS - failed, failed);
    return failed != 0;
}
