def get_assert(output, context):
    return len(output) > 3


def is_long(output, context):
    return len(output) > 30
