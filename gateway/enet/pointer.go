//go:build !noenet

package enet

// #include "carrier.h"
import "C"

import (
	"fmt"
	"reflect"
	"unsafe"

	goenet "github.com/codecat/go-enet"
)

// go-enet keeps the C pointers of its hosts and peers to itself. These take them
// out by reflection: should go-enet change, they return an error and never a
// pointer to something else.

func hostPointer(h goenet.Host) (*C.ENetHost, error) {
	p, err := cPointer(h, "_Ctype_struct__ENetHost", unsafe.Sizeof(C.ENetHost{}))
	return (*C.ENetHost)(p), err
}

func peerPointer(p goenet.Peer) (*C.ENetPeer, error) {
	q, err := cPointer(p, "_Ctype_struct__ENetPeer", unsafe.Sizeof(C.ENetPeer{}))
	return (*C.ENetPeer)(q), err
}

// cPointer returns the only field of wrapper, or of what it points to, if that is
// a pointer to a struct of the given name and size.
func cPointer(wrapper any, name string, size uintptr) (unsafe.Pointer, error) {
	v := reflect.ValueOf(wrapper)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || v.NumField() != 1 || v.Field(0).Kind() != reflect.Pointer {
		return nil, fmt.Errorf("enet: %T does not hold one pointer", wrapper)
	}
	field := v.Field(0)
	if t := field.Type().Elem(); t.Name() != name || t.Size() != size {
		return nil, fmt.Errorf("enet: %T holds a %s of %d bytes, not a %s of %d", wrapper, t.Name(), t.Size(), name, size)
	}
	if field.IsNil() {
		return nil, fmt.Errorf("enet: %T holds no pointer", wrapper)
	}
	return field.UnsafePointer(), nil
}
