"""Makes the cases of a test: every prompt with every combination of its vars."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from refinement.evals.dialects.agentv_fields import AgentvFields, targets_of
from refinement.evals.dialects.asserts.kinds import SCRIPT
from refinement.evals.dialects.asserts.reading import AssertionReader, Scope
from refinement.evals.dialects.asserts.transforms import Steps, note_unused, transforms_of
from refinement.evals.dialects.defaults import Defaults, assert_nodes
from refinement.evals.dialects.keys import AGENTV_EXECUTION, AGENTV_TEST, PROMPTFOO_OPTIONS, PROMPTFOO_TEST
from refinement.evals.dialects.log import sort_keys
from refinement.evals.dialects.messages import as_text, is_messages
from refinement.evals.dialects.numbers import share_of
from refinement.evals.dialects.prompts import PromptReader, Template
from refinement.evals.dialects.reader import Reader
from refinement.evals.dialects.tests import Test
from refinement.evals.dialects.variables import MOST_COMBINATIONS, VariableReader
from refinement.evals.dialects.workspaces import WorkspaceReader
from refinement.evals.sources.plain import data, text_of
from refinement.evals.types import Assertion, Case, Dialect, Message, Workspace
from refinement.interchange.imports.fields import brief, is_nothing
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar

NAME_CHARS = 200
PASSTHROUGH = Template("", 1, "{{prompt}}")
TASK = Template("", 1, "{{input}}")
UNREADABLE = Template("", 1, "?")
CONVERSATION = "_conversation"


@dataclass(frozen=True, slots=True)
class Part:
    """What the cases of one test have in common."""

    name: str
    node: Fields
    line: int
    expected: str
    criteria: str
    own_asserts: tuple[Node, ...]
    inherited: tuple[Node, ...]
    threshold: Decimal | None
    rubric_prompt: Node | None
    metadata: Mapping[str, object]
    transforms: Steps = ()
    workspace: Workspace | None = None


class CaseReader:
    """Makes the cases of one file."""

    def __init__(self, reader: Reader, prompts: list[Template] | None, defaults: Defaults) -> None:
        self.reader, self.log = reader, reader.log
        self.prompts, self.defaults = prompts, defaults
        self.prompt_reader, self.variables = PromptReader(reader), VariableReader(reader)
        self.agentv, self.workspaces = AgentvFields(reader), WorkspaceReader(reader)
        self.is_agentv = reader.dialect == Dialect.AGENTV

    def cases(self, test: Test, place: int) -> Iterator[Case]:
        with self.log.inside(test.path):
            yield from self.of_test(test.node, place)

    def of_test(self, node: Fields, place: int) -> Iterator[Case]:
        name = self.name(node, place)
        sort_keys(self.log, node, "a test", AGENTV_TEST if self.is_agentv else PROMPTFOO_TEST)
        options = self.options(node)
        execution = self.execution(node)
        variables = self.variables.read(node.values.get("vars"), f"{name}, vars").over(
            self.defaults.variables
        )
        part = self.part(node, name, execution, options)
        expand = data(options.values.get("disableVarExpansion")) is not True
        if variables.count(expand) > MOST_COMBINATIONS:
            self.log.add(
                node.line, f"The lists in vars of {brief(name)} make more than {MOST_COMBINATIONS:,} cases."
            )
            return
        own = self.agentv.input(node, name) if self.is_agentv else None
        prompts = self.chosen(node, name)
        for label, values in variables.combinations(expand):
            values = self.with_expected(values, part)
            filled = self.variables.filled(values, node.line, name)
            for prompt in [Template("", node.line, None)] if own is not None else prompts:
                labels = ", ".join(filter(None, (prompt.label, label)))
                yield self.case(
                    part, f"{name} ({labels})" if labels else name, prompt, own, filled, execution, options
                )

    # --- parts --------------------------------------------------------------------------------
    def name(self, node: Fields, place: int) -> str:
        for key in ("id", "description", "name"):
            value = node.values.get(key)
            if isinstance(value, Scalar) and not is_nothing(value):
                text = " ".join(self.reader.filled(value.text, {}, value.line, key).split())
                if text:
                    return text[:NAME_CHARS]
        return f"test {place}"

    def options(self, node: Fields) -> Fields:
        """The test's options over those of the defaults."""
        own = node.values.get("options")
        own = own if isinstance(own, Fields) else Fields(node.line)
        base = self.defaults.options or Fields(node.line)
        options = Fields(own.line, {**base.values, **own.values}, {**base.lines, **own.lines})
        sort_keys(self.log, options, "options", PROMPTFOO_OPTIONS)
        return options

    def execution(self, node: Fields) -> Fields:
        execution = node.values.get("execution")
        if not self.is_agentv or not isinstance(execution, Fields):
            return Fields(node.line)
        sort_keys(self.log, execution, "execution", AGENTV_EXECUTION)
        return execution

    def part(self, node: Fields, name: str, execution: Fields, options: Fields) -> Part:
        threshold = next(
            (
                place.values["threshold"]
                for place in (node, execution)
                if not is_nothing(place.values.get("threshold"))
            ),
            None,
        )
        skips = data(execution.values.get("skip_defaults")) is True
        skips = skips or data(options.values.get("disableDefaultAsserts")) is True
        own = assert_nodes(self.reader, node, name) + assert_nodes(self.reader, execution, name)
        inherited = () if skips else self.defaults.asserts
        kept = data(node.values.get("metadata"))
        metadata = {**self.defaults.metadata, **(kept if isinstance(kept, dict) else {})}
        prompt = options.values.get("rubricPrompt") or options.values.get("rubric_prompt")
        return Part(
            name=name,
            node=node,
            line=node.line,
            expected=self.agentv.expected(node, name) if self.is_agentv else "",
            criteria=(self.agentv.criteria(node) or self.defaults.criteria) if self.is_agentv else "",
            own_asserts=tuple(own),
            inherited=inherited,
            threshold=self.defaults.threshold
            if threshold is None
            else share_of(self.log, threshold, f"{name}, threshold"),
            rubric_prompt=prompt,
            metadata=metadata,
            transforms=transforms_of(self.reader, options, "options"),
            workspace=self.workspaces.read(node) or self.defaults.workspace if self.is_agentv else None,
        )

    def with_expected(self, values: dict[str, object], part: Part) -> dict[str, object]:
        """AgentV's templates see the test's own fields as well."""
        if not self.is_agentv:
            return values
        fields: dict[str, object] = {"expected_output": part.expected, "criteria": part.criteria}
        fields = {key: value for key, value in fields.items() if value}
        return {**fields, **values}

    def chosen(self, node: Fields, name: str) -> list[Template]:
        """The file's prompts that the test asks for."""
        if self.prompts is None:
            return [TASK if self.is_agentv else PASSTHROUGH]
        if not self.prompts:
            return [UNREADABLE]  # so that the assertions are read all the same
        wanted = node.values.get("prompts")
        if not isinstance(wanted, Items):
            return self.prompts
        labels = [text_of(data(entry)) for entry in wanted.values]
        chosen = [prompt for prompt in self.prompts if any(fits(prompt.label, label) for label in labels)]
        if not chosen and len(self.prompts) > 1:
            self.log.add(wanted.line, f"{name}: no prompt has one of the labels {', '.join(labels)}.")
        return chosen or self.prompts

    # --- one case -----------------------------------------------------------------------------
    def case(
        self,
        part: Part,
        name: str,
        prompt: Template,
        own: object,
        values: Mapping[str, object],
        execution: Fields,
        options: Fields,
    ) -> Case:
        seen = {**values, "vars": values}
        messages = self.messages(part, prompt, own, seen)
        prefix, suffix = (self.affix(options, key, seen) for key in ("prefix", "suffix"))
        messages = wrapped((*self.lead(execution, seen), *messages), prefix, suffix)
        text = as_text(messages)
        if not text.strip() and not self.log.refused:
            self.log.add(part.line, f"The prompt of {brief(name)} is empty.")
        source = prompt.source if isinstance(prompt.source, str) else ""
        if CONVERSATION in source and "{%" in source:
            self.log.add(
                prompt.line, f"{CONVERSATION} is not supported: it uses one case's answer in another case."
            )
        expected = self.reader.filled(part.expected, seen, part.line, "the expected output")
        expected = expected or (expected_in(values) if self.is_agentv else "")
        assertions = self.assertions(part, seen, expected)
        note_unused(self.reader, options, assertions)
        if part.workspace is not None and part.workspace.lacks and has_scripts(assertions):
            self.log.add(part.line, f"{part.name} has a script, but {part.workspace.lacks}")
        return Case(
            name=name,
            line=part.line,
            prompt=text,
            threshold=part.threshold,
            messages=messages,
            assertions=assertions,
            variables=dict(values),
            expected=expected,
            repeat=self.agentv.repeat(part.node, execution, self.defaults.repeat),
            only=targets_of(self.reader, part.node, execution) or self.defaults.targets,
            conversation_id=text_of(data(part.node.values.get("conversation_id"))),
            tags=self.agentv.tags(part.node),
            metadata=part.metadata,
            workspace=part.workspace,
        )

    def messages(
        self, part: Part, prompt: Template, own: object, values: Mapping[str, object]
    ) -> tuple[Message, ...]:
        """The test's own input, or a prompt of the file."""
        if own is not None:
            return self.prompt_reader.messages(Template("", part.line, own), values, part.name)
        with self.log.inside(self.reader.path):
            return self.prompt_reader.messages(prompt, values, prompt.label or "the prompt")

    def lead(self, execution: Fields, values: Mapping[str, object]) -> tuple[Message, ...]:
        """The messages that the file puts before every test's own."""
        lead = self.defaults.lead
        if lead is None or data(execution.values.get("skip_defaults")) is True:
            return ()
        with self.log.inside(self.reader.path):
            return self.prompt_reader.messages(Template("", 1, lead), values, "input")

    def affix(self, options: Fields, key: str, values: Mapping[str, object]) -> str:
        node = options.values.get(key)
        return self.reader.filled(node.text, values, node.line, key) if isinstance(node, Scalar) else ""

    def assertions(self, part: Part, values: Mapping[str, object], expected: str) -> tuple[Assertion, ...]:
        scope = Scope(
            values=values,
            criteria=self.reader.filled(part.criteria, values, part.line, "criteria"),
            expected=expected,
            transforms=part.transforms,
            templates=self.defaults.templates,
        )
        reader = AssertionReader(self.reader, scope)
        if part.rubric_prompt is not None:
            prompt = reader.rubrics.prompt_text(part.rubric_prompt, "rubricPrompt")
            reader = AssertionReader(self.reader, replace(scope, rubric_prompt=prompt))
        if self.is_agentv and not part.own_asserts and not part.inherited:
            implied = reader.rubrics.implied(part.line)
            return (implied,) if implied else ()
        own = reader.read(part.own_asserts)
        with self.log.inside(self.reader.path):
            inherited = reader.read(part.inherited, "the default assert")
        return (*own, *inherited) if self.is_agentv else (*inherited, *own)


def fits(label: str, wanted: str) -> bool:
    """Promptfoo's matching of labels: equal, a prefix before a colon, or a star at the end."""
    if wanted.endswith("*"):
        return label.startswith(wanted[:-1])
    return label == wanted or label.startswith(f"{wanted}:")


def has_scripts(assertions: tuple[Assertion, ...]) -> bool:
    return any(entry.kind == SCRIPT or has_scripts(entry.parts) for entry in assertions)


def wrapped(messages: Sequence[Message], prefix: str, suffix: str) -> tuple[Message, ...]:
    """The messages with a text before and after the last one."""
    if not (prefix or suffix) or not messages:
        return tuple(messages)
    last = messages[-1]
    return (*messages[:-1], Message(last.role, f"{prefix}{last.content}{suffix}"))


def expected_in(values: Mapping[str, object]) -> str:
    """The reference answer that newer AgentV files keep in vars."""
    value = values.get("expected_output")
    if is_messages(value):
        assert isinstance(value, list)
        return "\n\n".join(text_of(entry["content"]) for entry in value if "content" in entry)
    return text_of(value)
