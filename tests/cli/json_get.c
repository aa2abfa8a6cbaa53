// tests/cli/json_get.c: json_get PATH < text: the value at a.b.c of one JSON text on stdin, for the shell
// tests. Fails when stdin is not exactly one valid JSON value or has nothing there. "" is the whole value, N
// an index.

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    json_error_t error;
    json_t *root = json_loadf(stdin, JSON_DECODE_ANY, &error);
    if (!root) {
        printf("line %d: %s\n", error.line, error.text);
        return 1;
    }
    const json_t *at = root;
    char *rest = NULL;
    for (char *key = strtok_r(argv[1], ".", &rest); key && at; key = strtok_r(NULL, ".", &rest))
        at = json_is_array(at) ? json_array_get(at, (size_t)atoi(key)) : json_object_get(at, key);
    if (!at) {
        printf("nothing there\n");
        json_decref(root);
        return 1;
    }
    if (json_is_string(at))
        printf("%s\n", json_string_value(at));
    else
        json_dumpf(at, stdout, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)), printf("\n");
    json_decref(root);
    return 0;
}
