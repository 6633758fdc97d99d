// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState, type ReactNode } from "react";
import { afterEach, beforeAll, expect, test } from "vitest";
import { chooseLanguage } from "../i18n/languages.ts";
import { sentText, type InputDraft } from "./input-draft.ts";
import { firstDraft, InputEditor, issuesOf } from "./input-editor.tsx";
import type { Schema } from "./schema.ts";

beforeAll(() => chooseLanguage("en"));
afterEach(cleanup);

const schema: Schema = {
  type: "object",
  properties: {
    to: { type: "string", description: "Whom it goes to" },
    copies: { type: "integer", minimum: 1 },
    urgent: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    by: {
      anyOf: [
        {
          type: "object",
          properties: { kind: { const: "mail" }, address: { type: "string" } },
          required: ["kind", "address"],
        },
        {
          type: "object",
          properties: { kind: { const: "post" }, street: { type: "string" } },
          required: ["kind", "street"],
        },
      ],
    },
  },
  required: ["to", "urgent", "by"],
};

let sent: string | null = null;

function Editor({ isTried = false }: { readonly isTried?: boolean }): ReactNode {
  const [draft, setDraft] = useState<InputDraft>(() => firstDraft(schema));
  sent = sentText(draft);
  return (
    <InputEditor
      label="Input"
      schema={schema}
      draft={draft}
      onDraft={setDraft}
      issues={isTried ? issuesOf(schema, draft) : []}
    />
  );
}

const field = (name: string): HTMLInputElement => screen.getByLabelText(new RegExp(`^${name}(?:optional)?$`));
const write = (name: string, value: string): void => void fireEvent.change(field(name), { target: { value } });
const press = (name: string): void => void fireEvent.click(screen.getByRole("button", { name }));

test("a form is made of a schema, and what is written in it is what is sent", () => {
  render(<Editor />);
  expect(screen.getByText("Whom it goes to").id).toBe(field("to").getAttribute("aria-describedby"));
  write("to", "ada");
  write("copies", "2");
  fireEvent.click(field("urgent"));
  press("Add tags");
  press("Add an item");
  write("Item 1", "red");
  write("address", "a@b");
  expect(JSON.parse(sent ?? "")).toEqual({
    to: "ada",
    copies: 2,
    urgent: true,
    tags: ["red"],
    by: { kind: "mail", address: "a@b" },
  });
});

test("what may be left out is left out when its field is emptied", () => {
  render(<Editor />);
  write("copies", "2");
  write("copies", "");
  press("Add tags");
  press("Remove tags");
  expect(Object.keys(JSON.parse(sent ?? "") as object)).toEqual(["urgent", "by"]);
});

test("what was written for one kind is there again when one comes back to it", () => {
  render(<Editor />);
  write("address", "a@b");
  fireEvent.change(screen.getByLabelText("Kind"), { target: { value: "1" } });
  write("street", "Main");
  expect(sent).toContain('{"kind":"post","street":"Main"}');
  fireEvent.change(screen.getByLabelText("Kind"), { target: { value: "0" } });
  expect(field("address").value).toBe("a@b");
});

test("the form and JSON are two ways to write the same", () => {
  render(<Editor />);
  write("to", "ada");
  press("JSON");
  const text = screen.getByRole("textbox", { name: /JSON/ });
  expect((text as HTMLTextAreaElement).value).toContain('"to": "ada"');
  fireEvent.change(text, { target: { value: '{"to": ' } });
  press("Form");
  expect(screen.getByRole("alert").textContent).toContain("not JSON yet");
  fireEvent.change(text, { target: { value: '{"to": "bob", "more": 1}' } });
  press("Form");
  expect(field("to").value).toBe("bob");
  expect(sent).toBe('{"to":"bob","more":1}');
});

test("a number that is none yet is kept as it was written, and said to be none", () => {
  render(<Editor isTried />);
  write("copies", "12345678901234567890");
  expect(field("copies").value).toBe("12345678901234567890");
  expect(screen.getByText("It has to be a whole number.")).toBeDefined();
  write("copies", "0");
  expect(screen.getByText("It is at least 1.").id).toBe(field("copies").getAttribute("aria-describedby"));
  expect(field("copies").getAttribute("aria-invalid")).toBe("true");
});
