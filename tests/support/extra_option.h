/* extra_option.h - a row of the option table that only the programs of tests/options have: another
 * name for growth, so that its effect can be seen. */
/* clang-format off */
{.name = "trial_steps", .offset = offsetof(deja_options, growth), .width = sizeof(uint32_t),
 .type = DEJA_OPTION_COUNT, RANGE(2, 99), .standard = 7, .keyword = "TRIALSTEPS", .value = "T",
 .help = "try T times, or give options.memory"},
