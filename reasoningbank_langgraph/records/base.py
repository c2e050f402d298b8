"""The base of all records: frozen, closed to unknown fields, with named errors; and the types of their fields."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import dataclass_transform

from reasoningbank_langgraph.errors import InvalidRecordError
from reasoningbank_langgraph.messages import short_repr

Score = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is outside the years 1 to 9999 in UTC") from None


UtcDatetime = Annotated[AwareDatetime, AfterValidator(_in_utc)]


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def _raise_named(record: str, error: ValidationError) -> NoReturn:
    """Turn pydantic's error into one of ours, with the field, the value and the rule in the message."""
    first = error.errors()[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InvalidRecordError):
        raise cause from None
    field = ".".join(str(part) for part in first["loc"]) or "value"
    raise InvalidRecordError(f"{record}.{field}: {first['msg']}, got {short_repr(first['input'])}") from error


if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field,))
class _NamedErrors(ModelMetaclass):
    """Names the errors of direct construction, so that nested records need no extra Python call."""

    if not TYPE_CHECKING:  # type checkers would take what a metaclass returns for anything at all

        def __call__(cls, *args: Any, **data: Any) -> Any:  # noqa: N805 - of a metaclass
            if args:
                first = next(iter(vars(cls)["__pydantic_fields__"]))
                raise TypeError(f"{cls.__name__} takes its fields by name, as in {cls.__name__}({first}=...)")
            try:
                return super().__call__(**data)
            except ValidationError as error:
                _raise_named(cls.__name__, error)


class Record(BaseModel, metaclass=_NamedErrors):
    """Base of all records: frozen, closed to unknown fields, with named errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """Make a record from a mapping or another record. Raises `InvalidRecordError`."""
        try:
            return super().model_validate(obj, **options)
        except ValidationError as error:
            _raise_named(cls.__name__, error)

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """Make a record from its JSON text. Raises `InvalidRecordError`."""
        try:
            return super().model_validate_json(json_data, **options)
        except ValidationError as error:
            _raise_named(cls.__name__, error)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data: what goes into graph channels and stores."""
        return self.model_dump(mode="json")
