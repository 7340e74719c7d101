"""What the readers do with each key, per dialect. docs/eval.md shows these tables."""

from refinement.evals.dialects.log import Keys, words

CODE_OUTPUT = "it changes the answer with code before it is checked."
OUTPUT = "Results go to the --out folder."
RUNNING = "The command line decides how cases run."
DISPLAY = "It is only for display."
SHARING = "Results are not shared."
TRACING = "Wiggum keeps every call itself."
GRADER = "The target's judge is used."
HOOKS = "hooks can change the tests with code."
LATE_HOOKS = "Hooks that run after the tests are not run."
AGENT_HOOKS = "Hooks of AgentV are not run."
STORED = "it uses one case's answer in another case."
SOURCE = "it takes data from code."
VALIDATION = "Only AgentV's own tools use it."
ATTACHED = "They read files that an answer attaches. Answers are text here."
SERIAL = "Cases are independent of each other."

PROMPTFOO_FILE = Keys(
    understood=words(
        """
        prompts providers targets tests defaultTest scenarios assertionTemplates env evaluateOptions
        default_test evaluate_options extensions
        """
    ),
    carried=words(
        """
        $schema description tags metadata author name title version
        """
    ),
    ignored={
        "outputPath": OUTPUT,
        "writeLatestResults": OUTPUT,
        "commandLineOptions": RUNNING,
        "sharing": SHARING,
        "shareable": SHARING,
        "derivedMetrics": DISPLAY,
        "table": DISPLAY,
        "tracing": TRACING,
        "nunjucksFilters": "Filters made by code are not supported; a prompt that uses one is refused.",
        "filters": "Filters made by code are not supported; a prompt that uses one is refused.",
        "evaluatorOptions": RUNNING,
        "providerPromptMap": "All prompts are used.",
        "cache": "Answers are not cached.",
        "generated": DISPLAY,
        "purpose": DISPLAY,
        "numTests": DISPLAY,
        "redteam": "Red team tests are not generated. The tests of the file are used.",
    },
    refused={
        "assertScoringFunction": "it scores answers with code.",
        "transform": CODE_OUTPUT,
        "postprocess": CODE_OUTPUT,
    },
)
PROMPTFOO_TEST = Keys(
    understood=words(
        """
        vars assert threshold options description prompts provider providers metadata id repeat
        disableVarExpansion
        """
    ),
    carried=words(
        """
        author tags name comment notes skip_reason category
        """
    ),
    refused={
        "assertScoringFunction": "it scores answers with code.",
        "transform": CODE_OUTPUT,
        "postprocess": CODE_OUTPUT,
        "storeOutputAs": STORED,
        "providerOutput": "it replaces the model's answer.",
    },
)
PROMPTFOO_OPTIONS = Keys(
    understood=words(
        """
        prefix suffix rubricPrompt disableVarExpansion disableDefaultAsserts repeat transform postprocess
        """
    ),
    ignored={
        "provider": GRADER,
        "runSerially": SERIAL,
        "response_format": "The target's own settings are used.",
        "temperature": "The target's own settings are used.",
        "max_tokens": "The target's own settings are used.",
        "tools": "The target's own settings are used.",
        "cache": "Answers are not cached.",
        "factuality": GRADER,
        "numGenerations": "Each case runs once, unless `repeat` is set.",
    },
    refused={
        "transformVars": "it changes vars with code.",
        "storeOutputAs": STORED,
    },
)
RED_TEAM = "promptfoo generates red team tests. Generate them there, and use the file it writes."
AGENTV_FILE = Keys(
    understood=words(
        """
        tests evalcases eval_cases cases prompts input input_messages vars default_test defaultTest assert
        assertions evaluators evaluator rubrics execution target targets providers scenarios threshold
        evaluate_options imports workspace environment name repeat runs env input_files criteria
        judge
        """
    ),
    carried=words(
        """
        $schema description dataset suite category tags version author license requires metadata governance
        experiment notes title owner id
        """
    ),
    ignored={
        "extensions": AGENT_HOOKS,
        "hooks": AGENT_HOOKS,
        "timeout_seconds": RUNNING,
        "workers": RUNNING,
        "cache": "Answers are not cached.",
        "grader_target": GRADER,
        "judge_target": GRADER,
        "optimization": "Wiggum improves answers with --ralph.",
        "on_dependency_failure": SERIAL,
        "preprocessors": ATTACHED,
    },
    refused={"transform": CODE_OUTPUT, "type": "only type eval is supported."},
)
AGENTV_TEST = Keys(
    understood=words(
        """
        id input input_messages expected_output expected_messages reference_answer criteria
        expected_outcome outcome assert assertions evaluators evaluator rubrics vars tags metadata
        conversation_id execution threshold
        workspace environment description repeat name input_files options prompts runs
        """
    ),
    carried=words(
        """
        note notes governance category dataset suite author title difficulty conversation provider
        """
    ),
    ignored={
        "hooks": AGENT_HOOKS,
        "depends_on": SERIAL,
        "targets": "Use execution.target.",
        "timeout_seconds": RUNNING,
        "preprocessors": ATTACHED,
    },
    refused={
        "transform": CODE_OUTPUT,
        "turns": "answers of several turns in one case are not supported.",
        "mode": "answers of several turns in one case are not supported.",
    },
)
AGENTV_EXECUTION = Keys(
    understood=words(
        """
        target targets evaluators assert assertions evaluator skip_defaults threshold trials repeat runs
        judge ralph rubrics
        """
    ),
    carried=words(
        """
        name
        """
    ),
    ignored={
        "budget_usd": "Set budgets in the app.",
        "total_budget_usd": "Set budgets in the app.",
        "cost_limit_usd": "Set budgets in the app.",
        "max_concurrency": RUNNING,
        "workers": RUNNING,
        "cache": "Answers are not cached.",
        "cache_path": "Answers are not cached.",
        "fail_on_error": RUNNING,
        "timeout_seconds": RUNNING,
        "verbose": RUNNING,
        "trace_file": TRACING,
        "keep_workspaces": RUNNING,
        "otel_file": TRACING,
        "export_otel": TRACING,
        "threshold_mode": RUNNING,
    },
)
# All other keys of a script are its configuration.
SCRIPT = words(
    """
    type command script value path cwd timeout timeout_ms timeout_seconds name metric id weight required
    min_score negate severity suggestion threshold config target description comment note notes title
    governance provider
    """
)
ASSERTION = Keys(
    understood=words(
        """
        type value threshold weight metric name id negate required min_score severity suggestion flags
        provider rubricPrompt rubric_prompt prompt rubrics criteria assert assertions evaluators aggregator
        command script cwd timeout timeout_ms timeout_seconds config min max unit budget fields aggregation
        rubric path max_tool_calls max_llm_calls max_tokens max_cost_usd max_duration_ms max_total max_input
        max_output target_exploration_ratio $ref transform postprocess
        """
    ),
    carried=words(
        """
        description comment notes note title governance reason
        """
    ),
    ignored={
        "target": GRADER,
        "judge": GRADER,
        "model": GRADER,
        "max_steps": GRADER,
        "temperature": GRADER,
        "exploration_tolerance": "Tools are not seen.",
        "exploration_tools": "Tools are not seen.",
        "require_metrics": VALIDATION,
        "preprocessors": ATTACHED,
    },
    refused={
        "contextTransform": SOURCE,
        "function": SOURCE,
    },
)
