// A doubly linked list: in at the back, out at the front or from anywhere, each in constant time. A `Set` would read as
// well, but skips over the holes of what was deleted each time its first element is asked for.

export interface Link<T> {
  readonly value: T;
}

interface Node<T> extends Link<T> {
  previous: Node<T> | undefined;
  next: Node<T> | undefined;
  owner: LinkedList<T> | undefined;
}

export class LinkedList<T> {
  #head: Node<T> | undefined;
  #tail: Node<T> | undefined;
  size = 0;

  get first(): T | undefined {
    return this.#head?.value;
  }

  push(value: T): Link<T> {
    const node: Node<T> = { value, previous: this.#tail, next: undefined, owner: this };
    if (this.#tail === undefined) this.#head = node;
    else this.#tail.next = node;
    this.#tail = node;
    this.size += 1;
    return node;
  }

  shift(): T | undefined {
    const head = this.#head;
    if (head !== undefined) this.remove(head);
    return head?.value;
  }

  /** False where it is not (or no longer) in this list. */
  remove(link: Link<T>): boolean {
    const node = link as Node<T>;
    if (node.owner !== this) return false;
    if (node.previous === undefined) this.#head = node.next;
    else node.previous.next = node.next;
    if (node.next === undefined) this.#tail = node.previous;
    else node.next.previous = node.previous;
    node.owner = undefined;
    this.size -= 1;
    return true;
  }

  *[Symbol.iterator](): Generator<T> {
    for (let node = this.#head; node !== undefined; node = node.next) yield node.value;
  }
}
