// A list: a field for each item, in their order.

import { ArrowDown, ArrowUp, Plus } from "lucide-react";
import { useRef, type ReactNode } from "react";
import type { JsonValue } from "@perdure/protocol";
import { useMessages } from "../i18n/use-messages.ts";
import { Button } from "../ui/button.tsx";
import { useForm } from "./form-context.ts";
import { initialValue } from "./initial-value.ts";
import { Remove, SchemaField, type KindProps } from "./schema-field.tsx";
import { shapeOf, type Schema } from "./schema.ts";

export function ListField({ shape, value, path, onChange }: KindProps<"list">): ReactNode {
  const t = useMessages().form;
  const { root } = useForm();
  const items: readonly JsonValue[] = Array.isArray(value) ? value : [];
  const keys = useItemKeys(items.length);
  const fixed = shape.first.length;
  const schemaAt = (at: number): Schema => shape.first[at] ?? shape.items;
  const set = (at: number, next: JsonValue): void => onChange(items.with(at, next));
  const remove = (at: number): void => {
    keys.remove(at);
    onChange(items.toSpliced(at, 1));
  };
  const move = (at: number, to: number): void => {
    const [moved] = items.slice(at, at + 1);
    if (moved === undefined) return;
    keys.move(at, to);
    onChange(items.toSpliced(at, 1).toSpliced(to, 0, moved));
  };
  return (
    <>
      {items.map((item, at) => (
        <div key={keys.at(at)} className="form-item" data-tall={isTall(schemaAt(at), root) || undefined}>
          <SchemaField
            name={t.item(at + 1)}
            schema={schemaAt(at)}
            value={item}
            path={`${path}[${at}]`}
            isRequired
            onChange={(next) => set(at, next ?? null)}
          />
          {at < fixed ? null : (
            <ItemTools
              place={at + 1}
              isFirst={at === fixed}
              isLast={at === items.length - 1}
              onMove={(by) => move(at, at + by)}
              onRemove={() => remove(at)}
            />
          )}
        </div>
      ))}
      {shape.items === false ? null : (
        <div>
          <Button
            size="s"
            onClick={() =>
              onChange([...items, initialValue(schemaAt(items.length), root) ?? emptyOf(schemaAt(items.length), root)])
            }
          >
            <Plus aria-hidden />
            {t.addItem}
          </Button>
        </div>
      )}
    </>
  );
}

interface ItemToolsProps {
  readonly place: number;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly onMove: (by: 1 | -1) => void;
  readonly onRemove: () => void;
}

function ItemTools({ place, isFirst, isLast, onMove, onRemove }: ItemToolsProps): ReactNode {
  const t = useMessages().form;
  return (
    <div className="form-item-tools">
      <Button look="ghost" size="s" icon aria-label={t.moveUp(place)} disabled={isFirst} onClick={() => onMove(-1)}>
        <ArrowUp aria-hidden />
      </Button>
      <Button look="ghost" size="s" icon aria-label={t.moveDown(place)} disabled={isLast} onClick={() => onMove(1)}>
        <ArrowDown aria-hidden />
      </Button>
      <Remove label={t.item(place)} onRemove={onRemove} />
    </div>
  );
}

/** A place in a list cannot be left open, as a property can. */
function emptyOf(schema: Schema, root: Schema): JsonValue {
  const { kind } = shapeOf(schema, root);
  return kind === "text" || kind === "number" ? "" : null;
}

function isTall(schema: Schema, root: Schema): boolean {
  const { kind } = shapeOf(schema, root);
  return kind === "object" || kind === "list" || kind === "union";
}

interface ItemKeys {
  at(place: number): number;
  remove(place: number): void;
  move(from: number, to: number): void;
}

/** Items have no names of their own: fields keep theirs when an item before them goes. */
function useItemKeys(length: number): ItemKeys {
  const keys = useRef<number[]>([]);
  const last = useRef(0);
  while (keys.current.length < length) {
    last.current += 1;
    keys.current.push(last.current);
  }
  keys.current.length = length;
  return {
    at: (place) => keys.current[place] ?? place,
    remove: (place) => void keys.current.splice(place, 1),
    move: (from, to) => {
      const [moved] = keys.current.splice(from, 1);
      if (moved !== undefined) keys.current.splice(to, 0, moved);
    },
  };
}
