#include <config.h>

#include "base/json_internal.h"
#include "text/records_internal.h"

static df_status
check_arrays(const struct df_record *rec, const char *where)
{
    size_t ids = json_array_size(rec->ids), mask = json_array_size(rec->mask);

    if (!json_is_array(rec->ids))
        return DF_FAIL(DF_FORMAT, "%s: input_ids is %s, not an array", where,
                       df_json_type_name(rec->ids));
    if (!json_is_array(rec->mask))
        return DF_FAIL(DF_FORMAT, "%s: loss_mask is %s, not an array", where,
                       df_json_type_name(rec->mask));
    if (ids != mask)
        return DF_FAIL(DF_FORMAT, "%s: %zu input_ids but %zu of loss_mask",
                       where, ids, mask);
    return DF_OK;
}

static df_status
read_id(const json_t *value, size_t i, int32_t vocab, int32_t *out,
        const char *where)
{
    json_int_t id = json_integer_value(value);

    if (!json_is_integer(value))
        return DF_FAIL(DF_FORMAT, "%s: input_ids[%zu] is %s, not an integer",
                       where, i, df_json_type_name(value));
    if (id < 0 || id >= vocab)
        return DF_FAIL(DF_FORMAT,
                       "%s: input_ids[%zu] is %lld, not within 0 and %d",
                       where, i, (long long) id, vocab - 1);
    *out = (int32_t) id;
    return DF_OK;
}

static df_status
read_bit(const json_t *value, size_t i, uint8_t *out, const char *where)
{
    json_int_t bit = json_is_boolean(value) ? json_is_true(value)
                                            : json_integer_value(value);

    if (!json_is_boolean(value) && !json_is_integer(value))
        return DF_FAIL(DF_FORMAT, "%s: loss_mask[%zu] is %s, not 0 or 1",
                       where, i, df_json_type_name(value));
    if (bit != 0 && bit != 1)
        return DF_FAIL(DF_FORMAT, "%s: loss_mask[%zu] is %lld, not 0 or 1",
                       where, i, (long long) bit);
    *out = (uint8_t) bit;
    return DF_OK;
}

df_status
df_record_ids(const struct df_record *rec, int32_t vocab, int32_t *ids,
              uint8_t *mask, const char *where)
{
    DF_TRY(check_arrays(rec, where));
    for (size_t i = 0; i < json_array_size(rec->ids); i++) {
        DF_TRY(read_id(json_array_get(rec->ids, i), i, vocab, &ids[i], where));
        DF_TRY(read_bit(json_array_get(rec->mask, i), i, &mask[i], where));
    }
    return DF_OK;
}
