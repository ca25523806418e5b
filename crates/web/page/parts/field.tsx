import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** A labelled input. `children` gets the id for the input and the id of the help text. */
export function Field(props: {
  label: string;
  help?: string;
  children: (ids: { id: string; "aria-describedby"?: string }) => ComponentChildren;
}) {
  const id = useId();
  const help = `${id}-help`;
  const ids = props.help ? { id, "aria-describedby": help } : { id };
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.children(ids)}
      {props.help && (
        <small id={help} class="dim">
          {props.help}
        </small>
      )}
    </div>
  );
}

export function TextField(props: {
  label: string;
  value: string;
  onValue: (value: string) => void;
  help?: string;
  placeholder?: string;
  list?: string[];
  isFocused?: boolean;
  isRequired?: boolean;
}) {
  const listId = useId();
  return (
    <Field label={props.label} {...(props.help ? { help: props.help } : {})}>
      {(ids) => (
        <>
          <input
            {...ids}
            type="text"
            value={props.value}
            placeholder={props.placeholder ?? ""}
            required={props.isRequired ?? false}
            autocomplete="off"
            {...(props.list ? { list: listId } : {})}
            {...(props.isFocused ? { "data-focus": true } : {})}
            onInput={(event) => props.onValue(event.currentTarget.value)}
          />
          {props.list && (
            <datalist id={listId}>
              {props.list.map((item) => (
                <option key={item} value={item} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

export function TextArea(props: {
  label: string;
  value: string;
  onValue: (value: string) => void;
  onSubmit?: () => void;
  help?: string;
  rows?: number;
  isFocused?: boolean;
}) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      props.onSubmit?.();
    }
  };
  return (
    <Field label={props.label} {...(props.help ? { help: props.help } : {})}>
      {(ids) => (
        <textarea
          {...ids}
          rows={props.rows ?? 6}
          value={props.value}
          {...(props.isFocused ? { "data-focus": true } : {})}
          onInput={(event) => props.onValue(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      )}
    </Field>
  );
}

export function Choice<T extends string>(props: {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onValue: (value: T) => void;
  help?: string;
  isFocused?: boolean;
}) {
  return (
    <Field label={props.label} {...(props.help ? { help: props.help } : {})}>
      {(ids) => (
        <select
          {...ids}
          {...(props.isFocused ? { "data-focus": true } : {})}
          value={props.value}
          onChange={(event) => props.onValue(event.currentTarget.value as T)}
        >
          {props.options.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Check(props: {
  label: string;
  isOn: boolean;
  onValue: (isOn: boolean) => void;
}) {
  return (
    <label class="check-field">
      <input
        type="checkbox"
        checked={props.isOn}
        onChange={(event) => props.onValue(event.currentTarget.checked)}
      />
      {props.label}
    </label>
  );
}
