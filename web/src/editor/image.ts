// The picture that patterns are traced over, kept in the browser's database: it is too large for local storage.

export type Backdrop = { image: Blob; width: number; at: [number, number]; shade: number }; // [m], opacity

function open(): Promise<IDBDatabase> {
  return new Promise((yes, no) => {
    const request = indexedDB.open('toile', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('kept');
    request.onsuccess = () => yes(request.result);
    request.onerror = () => no(request.error);
  });
}

async function use<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const base = await open();
  return new Promise((yes, no) => {
    const request = act(base.transaction('kept', mode).objectStore('kept'));
    request.onsuccess = () => yes(request.result);
    request.onerror = () => no(request.error);
  });
}

export const keepBackdrop = (backdrop: Backdrop | null) =>
  use('readwrite', (store) => (backdrop ? store.put(backdrop, 'backdrop') : store.delete('backdrop')) as IDBRequest<unknown>).catch(() => undefined);
export const keptBackdrop = () => use<Backdrop | undefined>('readonly', (store) => store.get('backdrop')).catch(() => undefined);
